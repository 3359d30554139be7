"""Exact exams: losses against brute force, and text players of every kind."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.poker.exam.exact import demanding_equilibrium
from counterplay.poker.exam.report import page, save
from counterplay.poker.exam.text import player_or_text, read_word, state_text

KUHN = cp.load("kuhn")


@pytest.mark.parametrize(
    "name", ["kuhn", pytest.param("leduc(suits=False)", marks=pytest.mark.slow)]
)
def test_losses_add_up_to_what_a_best_response_wins_more(name: str) -> None:
    game = cp.load(name)
    strategy = cp.Strategy.random(game, 3)
    result = cp.grade(game, strategy)
    lost = (result.game_value - result.values[0]) + (-result.game_value - result.values[1])
    assert result.loss_equilibrium == pytest.approx(lost, abs=1e-7)
    assert result.exploitability == pytest.approx(cp.exploitability(game, strategy), abs=1e-12)
    replies = [cp.best_response(game, strategy, player) for player in (0, 1)]
    hardest = replies[0].strategy.replace(replies[1].strategy, 1)
    lost = sum(
        cp.best_response(game, hardest, player).value
        - cp.expected_value(game, hardest.replace(strategy, player))[player]
        for player in (0, 1)
    )
    assert result.loss_best_response == pytest.approx(lost, abs=1e-9)
    assert len(result.decisions) == game.n_infosets
    assert all(one.loss_equilibrium >= 0.0 for one in result.decisions)


def test_one_decision_by_hand() -> None:
    """Folding K to a bet, as player 2, loses 3: 1 is lost where 2 would be won. The equilibrium
    with γ = 1 bets J with 1/3 and Q never, so that it comes to that once in 18 deals."""
    equilibrium = demanding_equilibrium(KUHN)
    bad = equilibrium.replace(
        cp.Strategy.from_table(KUHN, {**table(equilibrium), "K b": {"pass": 1.0}}), 1
    )
    result = cp.grade(KUHN, bad)
    (worst,) = [one for one in result.decisions if one.loss_equilibrium > 1e-9]
    assert worst.infoset == "K b"
    assert worst.best == "bet"
    assert worst.loss_equilibrium == pytest.approx(3.0 / 18.0, abs=1e-6)


def table(strategy: cp.Strategy) -> dict[str, dict[str, float]]:
    return {row.infoset: row.probabilities for row in strategy.table()}


def test_an_equilibrium_loses_nothing() -> None:
    result = cp.grade("kuhn", cp.solve("kuhn", "lp").strategy)
    assert result.loss_equilibrium == pytest.approx(0.0, abs=1e-8)
    assert result.exploitability == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        ("bet", "bet"),
        (" Bet.\n", "bet"),
        ("I pass", "pass"),
        ("pass or bet", None),
        ("pass, pass!", "pass"),
        ("", None),
        ("raise", None),
        ("alphabet", None),
        ("BET", "bet"),
        ("**bet**\r", "bet"),
        ("I bet, since a bet wins", "bet"),
        ("\x00\ufffd", None),
    ],
)
def test_answers_are_read_as_words(answer: str, word: str | None) -> None:
    assert read_word(answer, ["pass", "bet"]) == word


def test_states_as_text() -> None:
    text = state_text(KUHN, 0, "J pb", ["pass", "bet"])
    assert "Your card: J. Actions so far: pass, bet. You are player 1." in text
    assert text.endswith("Legal actions: pass, bet. Your action:")
    assert "\n" not in text
    leduc = cp.load("leduc")
    text = state_text(leduc, 1, "Js|Qh rc/c", ["call", "raise"])
    assert "Public card: Qh. Actions so far: round 1: raise, call; round 2: call." in text
    assert "round 2: none" in state_text(leduc, 0, "Js|Qh rc/", ["call", "raise"])
    assert "seen: 3" in state_text(cp.load("ocp(4)"), 0, "seen: 3", ["pass", "bet"])


def test_a_function_of_text_is_graded_like_its_table() -> None:
    asked: list[str] = []

    def answer(text: str) -> str:
        asked.append(text)
        return "bet" if "Your card: K" in text else "pass"

    kings = {label: {"bet" if label[0] == "K" else "pass": 1.0} for label in KUHN.infoset_names}
    result, twin = (
        cp.grade("kuhn", cp.TextPlayer(answer)),
        cp.grade("kuhn", cp.Strategy.from_table(KUHN, kings)),
    )
    assert result.loss_equilibrium == pytest.approx(twin.loss_equilibrium)
    assert result.exploitability == pytest.approx(twin.exploitability)
    assert (result.asked, result.illegal, len(set(asked))) == (12, 0, 12)


def test_several_answers_are_shares_and_illegal_ones_calls() -> None:
    answers = iter(["bet", "pass", "hm", "bet"] * 12)
    result = cp.grade("kuhn", cp.TextPlayer(lambda text: next(answers)), times=4)
    assert (result.asked, result.illegal) == (48, 12)
    first = next(one for one in result.decisions if one.infoset == "J")
    assert first.answer == {"pass": 0.5, "bet": 0.5}  # the illegal answer checks
    assert first.illegal == 1


def test_programs_and_files(tmp_path: Path) -> None:
    script = tmp_path / "model.py"
    script.write_text(
        "import sys\n\ndef bets(text):\n    return 'bet'\n\nif __name__ == '__main__':\n"
        "    for line in sys.stdin:\n        print('I bet', flush=True)\n"
    )
    of_program = cp.grade("kuhn", f"text:{sys.executable} {script}")
    of_function = cp.grade("kuhn", f"text:{script}:bets")
    assert of_program.loss_equilibrium == pytest.approx(of_function.loss_equilibrium)
    assert of_program.illegal == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("print('bet')", "reads no more|ended|without being asked"),
        ("import time; time.sleep(5)", "no answer within"),
        ("import sys\nfor line in sys.stdin: print('I think\\nbet', flush=True)", "wrote 'bet'"),
        ("import sys; sys.stdout.write('b' * 300_000)", "over 100,000 bytes|reads no more|asked"),
    ],
)
def test_programs_that_fail_are_named(tmp_path: Path, text: str, says: str) -> None:
    script = tmp_path / "bad.py"
    script.write_text(text)
    player = cp.TextPlayer(f"{sys.executable} {script}", seconds=0.5)
    with pytest.raises(cp.CounterplayError, match=says):
        cp.grade("kuhn", player)
    assert player._process is None


def test_empty_lines_are_no_answers_to_the_next_state(tmp_path: Path) -> None:
    script = tmp_path / "model.py"
    script.write_text("import sys\nfor line in sys.stdin:\n    print('BET!\\r\\n', flush=True)\n")
    result = cp.grade("kuhn", f"text:{sys.executable} {script}")
    assert result.illegal == 0
    script.write_text("import sys\nfor line in sys.stdin: print(flush=True)\n")
    with pytest.raises(cp.CounterplayError, match="not an empty one"):
        cp.grade("kuhn", cp.TextPlayer(f"{sys.executable} {script}", seconds=0.3))


def test_lines_that_are_left_at_the_end_are_said(tmp_path: Path) -> None:
    script = tmp_path / "model.py"
    script.write_text(
        "import sys\nfor line in sys.stdin:\n    print('pass', flush=True)\nprint('Bye')\n"
    )
    with pytest.warns(UserWarning, match="wrote 'Bye' after its last answer"):
        cp.grade("kuhn", f"text:{sys.executable} {script}")


@pytest.mark.parametrize(
    ("game", "player", "options", "says"),
    [
        ("kuhn(players=3)", "uniform", {}, "two players"),
        ("goofspiel(13)", "uniform", {}, "small game"),
        ("holdem(buckets=2)", "uniform", {}, "small game"),
        ("kuhn", "uniform", {"times": 2}, "for text players"),
        ("kuhn", "uniform", {"times": 0}, "times"),
        ("kuhn", "text:no-such-program", {}, "no program"),
        ("kuhn", cp.TextPlayer(lambda text: 5), {}, "no text"),  # type: ignore[arg-type, return-value]
        ("kuhn", cp.TextPlayer(lambda text: 1 / 0), {}, "division"),  # type: ignore[arg-type, return-value]
    ],
)
def test_mistakes_get_a_sentence(
    game: str, player: Any, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(cp.CounterplayError, match=says):
        cp.grade(game, player, **options)


def test_the_page_and_the_data(tmp_path: Path) -> None:
    result = cp.grade("kuhn", cp.TextPlayer(lambda text: "<b>bet</b>", name="<script>"))
    html, data = save(result, tmp_path / "exam")
    assert "<script>" not in html.read_text()
    assert "K pb" in html.read_text()
    facts = json.loads(data.read_text())
    assert facts["loss_equilibrium"] == pytest.approx(result.loss_equilibrium)
    assert len(facts["decisions"]) == 12
    assert page(result).count("<tr>") >= 13
    losses = result.columns()["loss_equilibrium"]
    assert losses == sorted(losses, reverse=True)
    assert np.isfinite(losses).all()


def test_a_name_that_is_no_text_is_written(tmp_path: Path) -> None:
    """Names of files may have bytes that are none."""
    result = cp.grade("kuhn", cp.TextPlayer(lambda text: "bet", name="f\udcff.py"))
    html, data = save(result, tmp_path)
    assert "f\\udcff.py" in html.read_text(encoding="utf-8")
    assert json.loads(data.read_text())["player"] == "f\udcff.py"


def test_a_text_player_is_a_function_or_a_command() -> None:
    with pytest.raises(cp.CounterplayError, match="a function or a command, not 3"):
        cp.TextPlayer(3)  # type: ignore[arg-type]


def test_a_word_without_the_prefix_stays() -> None:
    assert player_or_text("uniform") == "uniform"
