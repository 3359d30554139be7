"""Text players: a state of Kuhn or Leduc poker as one line of text in, an action as a word out; for
language models and for people.

A text player is a function of the text, or a program that reads states from its input, a line each,
and writes an answer to its output, a line each. The answer is the action; of a longer answer, the
only action that it names. Anything else is illegal, and played as a check or a call. Empty lines
are skipped; another second line for a state would be read as the answer to the next one, so that it
is an error, or a warning where it is seen at the end only.
"""

from __future__ import annotations

import os
import re
import selectors
import subprocess
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from counterplay.core.base.errors import BadParameter, CounterplayError, positive, shown
from counterplay.core.base.registry import call_user_code, is_user_defined, user_object
from counterplay.core.forms.game import Game
from counterplay.poker.acpc.server import program_command

PREFIX = "text:"
SECONDS = 120.0  # for an answer
PATIENCE = 1.0  # seconds for the program to end by itself
MOST_ANSWER = 100_000  # bytes of an answer
_WORD = re.compile(r"[a-z]+")
RULES = {
    "kuhn": "Kuhn poker: {cards} cards, {order}, one to each of {players} players, who ante 1. "
    "Pass or bet 1; after a bet the others bet (call) or pass (fold). The highest card wins.",
    "leduc": "Leduc hold'em: {cards} cards, ranks {order} in {suits} suits, one to each of "
    "{players} players, who ante 1. Two rounds, raises of 2 and then 4, at most {raises} a round. "
    "One public card before the second round. A pair with it wins, else the higher card.",
}
_LETTERS = {"p": "pass", "b": "bet", "c": "call", "r": "raise", "f": "fold"}


def state_text(game: Game, player: int, label: str, actions: list[str]) -> str:
    """An information set as one line: the rules, what the player sees, and the legal words."""
    kind = game.name.partition("(")[0]
    seen, _, betting = label.partition(" ")
    own, _, public = seen.partition("|")
    if kind not in RULES:
        what = f"A state of {game.name}: {label}."
    else:
        what = f"{RULES[kind].format(**_rules(game))} Your card: {own}."
        what += f" Public card: {public}." if public else ""
        rounds = [", ".join(_LETTERS[letter] for letter in one) for one in betting.split("/")]
        named = [f"round {k}: {one or 'none'}" for k, one in enumerate(rounds, 1)]
        what += f" Actions so far: {'; '.join(named) if '/' in betting else rounds[0] or 'none'}."
    return f"{what} You are player {player + 1}. Legal actions: {', '.join(actions)}. Your action:"


def _rules(game: Game) -> dict[str, Any]:
    """The numbers in the texts of the rules."""
    rules, players = game.rules, game.n_players
    if game.name.startswith("kuhn"):
        from counterplay.core.games.kuhn import RANKS

        deck = list(RANKS[-players - 1 :])
        return {"cards": len(deck), "order": " < ".join(deck), "players": players}
    order = " < ".join(rules.ranks)
    suits = len(rules.suits)
    sizes = {"cards": len(rules.deck), "order": order, "suits": suits, "raises": rules.raises}
    return {**sizes, "players": players}


def read_word(answer: str, actions: list[str]) -> str | None:
    """The action that an answer names; None if it names none, or several."""
    words = _WORD.findall(answer.lower())
    named = {word for word in words if word in actions}
    return named.pop() if len(named) == 1 else None


class TextPlayer:
    """A function of a text, or the command of a program, as a player of small games."""

    act = strategy = make = None  # it is neither a bot nor a table nor a policy

    def __init__(
        self, answer: Callable[[str], str] | str, name: str = "", seconds: float = SECONDS
    ) -> None:
        self._seconds = positive(seconds, "seconds")
        self._function: Callable[[str], Any] | None = None
        self._command: tuple[str, ...] = ()
        if callable(answer):
            self._function = answer
        elif is_user_defined(answer):
            self._function = user_object(answer, "text player")
        elif isinstance(answer, str):
            self._command = _command(answer)
        else:
            raise BadParameter(f"a text player is a function or a command, not {shown(answer)}")
        given = answer if isinstance(answer, str) else getattr(answer, "__name__", "text player")
        self.name = name or str(given)
        if self._function is not None and not callable(self._function):
            raise BadParameter(f"{self.name} is no function of a text")
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def ask(self, text: str) -> str:
        """The answer to a state."""
        if self._function is not None:
            answer = call_user_code(self._function, self.name, text)
            if not isinstance(answer, str):
                raise BadParameter(f"{self.name} answered {shown(answer)}, which is no text")
            return answer
        return self._of_program(text)

    def close(self) -> None:
        """Ends the program."""
        process, self._process = self._process, None
        if process is not None:
            for stream in (process.stdin, process.stdout):
                with suppress(OSError):
                    stream.close()  # type: ignore[union-attr]
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _of_program(self, text: str) -> str:
        if self._process is None:
            try:
                self._process = subprocess.Popen(
                    self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
                )
            except OSError as error:
                raise CounterplayError(f"cannot start {self.name}: {error.strerror}") from None
        assert self._process.stdin is not None
        left = self._left(0.0)
        if left:
            raise CounterplayError(
                f"{self.name} wrote {shown(left)} without being asked; it answers a line for each "
                f"state"
            )
        self._rest = b""
        try:
            self._process.stdin.write(f"{text}\n".encode())
            self._process.stdin.flush()
        except OSError:
            raise CounterplayError(f"{self.name} reads no more states") from None
        return self._line(time.monotonic() + self._seconds)

    def finish(self) -> None:
        """Ends the program; warns if it wrote more than its answers, which may be out of step."""
        process = self._process
        if process is not None and process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()
            left = self._left(PATIENCE)
            if left:
                warnings.warn(
                    f"{self.name} wrote {shown(left)} after its last answer; with more than a line "
                    f"for each state, answers are taken for those to other states",
                    stacklevel=4,
                )
        self.close()

    def _left(self, seconds: float) -> str:
        """The output that was not read, of the next seconds too unless the program ends."""
        assert self._process is not None
        assert self._process.stdout is not None
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while len(self._rest) <= MOST_ANSWER and selector.select(end - time.monotonic()):
                data = os.read(self._process.stdout.fileno(), 1 << 16)
                if not data:
                    break
                self._rest += data
        return self._rest.strip().decode("utf-8", "replace")

    def _line(self, end: float) -> str:
        """The next line of the program's output that is not empty."""
        assert self._process is not None
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while True:
                line, newline, rest = self._rest.partition(b"\n")
                if newline:
                    self._rest = rest
                    if line.strip():
                        return line.decode("utf-8", "replace")
                    continue
                ready = selector.select(max(end - time.monotonic(), 0.0))
                data = os.read(self._process.stdout.fileno(), 1 << 16) if ready else b""
                if not data or len(self._rest) > MOST_ANSWER:
                    why = f"gave no answer within {self._seconds:g} seconds"
                    if ready:
                        why = f"wrote a line of over {MOST_ANSWER:,} bytes" if data else "ended"
                    raise CounterplayError(
                        f"{self.name} {why}; it answers a line, not an empty one, for each state"
                    )
                self._rest += data


def _command(text: str) -> tuple[str, ...]:
    command = program_command(text)
    if command is None:
        raise BadParameter(f"no program {text!r}; a text player is file.py:function or a command")
    return command


def player_or_text(word: Any) -> Any:
    """The text player of a word such as `text:./model.sh`; any other player as it is."""
    if isinstance(word, str) and word.startswith(PREFIX):
        return TextPlayer(word.removeprefix(PREFIX))
    return word
