"""The commands `acpc ...`: the protocol of the Annual Computer Poker Competition."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer import Argument, Option

from counterplay.app.cli.display import (
    err,
    out,
    print_facts,
    print_json,
    share_progress,
    until_stopped,
)
from counterplay.app.cli.matches import end_facts, interval_text, seat_facts
from counterplay.app.cli.options import PLAYER, AsJson, Command, Seed, integer, refuse_given
from counterplay.core.base.errors import BadParameter, CounterplayError, Interrupted, whole_number

if TYPE_CHECKING:
    from counterplay.core.match.result import MatchResult
    from counterplay.poker.acpc.client import AcpcResult
    from counterplay.poker.acpc.server import AcpcSeat

acpc = typer.Typer(
    help="Play limit hold'em by the protocol of the Annual Computer Poker Competition.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
LEARNER_OPTIONS = ("game",)


@acpc.command(cls=Command)
def play(
    context: typer.Context,
    host: Annotated[str, Argument(help="The host of the dealer.")],
    port: Annotated[int, Argument(help="The port of the seat, as the dealer prints it.")],
    player: Annotated[str, Option(help=f"The player: {PLAYER}.")],
    seed: Seed = 0,
    patience: Annotated[
        float, Option(help="Seconds to wait for a dealer that does not listen yet.")
    ] = 10.0,
    game: Annotated[
        str, Option(help="Adaptive: hold'em with the buckets it learns in.")
    ] = "holdem(buckets=10)",
    resume: Annotated[
        Path | None,
        Option(help="The log of a match that is resumed; the player remembers its hands."),
    ] = None,
    name: Annotated[str | None, Option(help="With --resume: the player's name in the log.")] = None,
    as_json: AsJson = False,
) -> None:
    """Play at a dealer of the competition until it closes the connection.

    For example: counterplay acpc play localhost 16177 --player poki

    Ctrl-C prints what was won so far.
    """
    from counterplay.poker.acpc.client import LAST_PORT, MatchCut, play_acpc
    from counterplay.poker.acpc.plan import past_states
    from counterplay.poker.acpc.player import AcpcPlayer
    from counterplay.poker.acpc.server import ADAPTIVE

    whole_number(port, 1, LAST_PORT, "a port")
    if (resume is None) != (name is None):
        raise BadParameter("--resume LOG and --name, the player's name in it, go together")
    past = [] if resume is None or name is None else past_states(resume, name)
    cut: Interrupted | MatchCut | None = None
    if player == ADAPTIVE:
        from counterplay.poker.adaptive.player import Adaptive

        with share_progress("portfolio") as progress:
            bot: Any = Adaptive(game, seed=seed, progress=progress)
    else:
        refuse_given(context, LEARNER_OPTIONS, f"{player} does not learn while playing")
        bot = player
    with share_progress("tables") as progress:
        seated = AcpcPlayer(bot, seed, progress)
    seated.warm_up()
    seated.replay(past)
    try:
        result = play_acpc(host, port, seated, patience=patience, warn=err.print)
    except (Interrupted, MatchCut) as stop:
        result, cut = cast("AcpcResult", stop.result), stop
    facts = {
        "player": player,
        "hands": result.hands,
        "won": result.won,
        "won per hand": result.won / result.hands if result.hands else None,
        "unit": "small bets",
        "seconds": result.seconds,
        "stopped": cut is not None,
    }
    print_facts(facts, as_json)
    if isinstance(cut, CounterplayError):
        raise cut
    if cut is not None:
        raise typer.Exit(130)


@acpc.command(cls=Command)
def deal(
    a: Annotated[
        str,
        Argument(
            help=f"A program that is started with host and port (in quotes with its arguments), "
            f"the word wait, or {PLAYER}."
        ),
    ],
    b: Annotated[str, Argument(help="As the first.")],
    hands: Annotated[int, Option("-n", "--hands", help="Hands to deal.", parser=integer)] = 3_000,
    seed: Annotated[
        int, Option(help="Seed of the cards, as the competition's dealer deals them.")
    ] = 0,
    player_seed: Annotated[int, Option(help="Seed of the random numbers of built-in players.")] = 0,
    names: Annotated[str | None, Option(help="Names of the players in the log: A,B.")] = None,
    name: Annotated[str, Option(help="Name of the match in the log.")] = "match",
    log: Annotated[
        Path | None, Option(help="Write the hand histories, in the dealer's format.")
    ] = None,
    append: Annotated[bool, Option("--append", help="Append to the log.")] = False,
    resume: Annotated[
        bool,
        Option(
            "--resume",
            help="Resume the interrupted match of the log, with its transcript in mid-hand.",
        ),
    ] = False,
    transcript: Annotated[
        Path | None, Option(help="Write all messages, as the competition's dealer prints them.")
    ] = None,
    host: Annotated[
        str, Option(help="Address to listen at; 0.0.0.0 for other machines.")
    ] = "127.0.0.1",
    ports: Annotated[str, Option(help="Ports of the seats: P1,P2; 0 is any free one.")] = "0,0",
    fixed_seats: Annotated[
        bool, Option("--fixed-seats", help="A is the big blind in every hand.")
    ] = False,
    t_response: Annotated[int, Option(help="Milliseconds for an action.")] = 600_000,
    t_hand: Annotated[int, Option(help="Milliseconds of a player in a hand.")] = 600_000,
    t_per_hand: Annotated[
        int, Option(help="Milliseconds of a player in the match, per hand.")
    ] = 7_000,
    start_timeout: Annotated[
        int | None, Option(help="Milliseconds to wait for players (default: no limit).")
    ] = None,
    own_processes: Annotated[
        bool,
        Option(
            "--own-processes", help="A process for each built-in player; the result is the same."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Deal a match of two programs or built-in players. Print the result with its 95% interval.

    For example: counterplay acpc deal -n 3000 --seed 1 ./their_bot sparbot --log match.log

    Prints the two ports, then the SCORE, as the competition's dealer does, then the result.
    A player that is too late or disconnects ends the match without a score, with exit code 1.
    Built-in bots except adaptive, and saved strategies, run in the dealer's process.
    """
    from counterplay.poker.acpc.dealer import MatchAborted
    from counterplay.poker.acpc.plan import DealerLimits, MatchPlan
    from counterplay.poker.acpc.server import acpc_seat, deal_acpc

    if append and log is None:
        raise BadParameter("--append needs the log to append to: --log FILE")
    seats = (acpc_seat(a, 1, player_seed), acpc_seat(b, 2, player_seed))
    if own_processes and all(one.in_process is None for one in seats):
        raise BadParameter(
            "--own-processes is for built-in bots and saved strategies, and neither player is one; "
            "leave it out"
        )
    limits = DealerLimits(t_response, t_hand, t_per_hand, start_timeout)
    output = (name, log, append, transcript, resume)
    plan = MatchPlan(_names(names, seats), hands, seed, limits, fixed_seats, *output)
    console = err if as_json else out
    options: dict[str, Any] = {
        "host": host,
        "ports": _ports(ports),
        "opened": lambda numbers: console.print(f"{numbers[0]} {numbers[1]}"),
        "warn": err.print,
        "scored": lambda line: console.print(line.rstrip()),
        "own_processes": own_processes,
    }
    try:
        with share_progress("match") as progress:
            work = partial(deal_acpc, plan, seats, progress=progress, **options)
            result, _ = until_stopped(work)
    except MatchAborted as error:
        err.print(str(error))
        raise typer.Exit(1) from None
    _report(result, log, resume, as_json)
    if result.stopped:
        raise typer.Exit(130)


def _names(text: str | None, seats: tuple[AcpcSeat, AcpcSeat]) -> tuple[str, str]:
    if text is None:
        one, two = seats[0].name, seats[1].name
        return (one, two) if one != two else (f"{one}.1", f"{two}.2")
    one, comma, two = text.partition(",")
    if not comma or one == two:
        raise BadParameter(f"--names are two different names with a comma between, not {text!r}")
    return one, two


def _ports(text: str) -> tuple[int, int]:
    try:
        one, two = (int(part) for part in text.split(","))
    except ValueError:
        raise BadParameter(f"--ports are two numbers with a comma between, not {text!r}") from None
    if not (0 <= one < 2**16 and 0 <= two < 2**16):
        raise BadParameter(f"a port is a number from 0 to {2**16 - 1}; got {text!r}")
    return one, two


def _report(result: MatchResult, log: Path | None, resumed: bool, as_json: bool) -> None:
    if as_json:
        log_text = None if log is None else str(log)
        more = {"interval": result.interval, "unit": "sb/h", "log": log_text}
        print_json(asdict(result) | more)
        return
    out.print(f"{result.a} against {result.b}: {result.mean:+.4f} sb/h{interval_text(result)}")
    won = seat_facts(result, result.a, ("the dealer", "the big blind"))
    end = end_facts(result, log)
    if resumed:  # the seconds are those of the rest
        del end["hands per second"]
    print_facts({"hands": result.hands, **won, **end}, False)


@acpc.command(cls=Command)
def bots(
    players: Annotated[
        list[str] | None, Argument(help=f"Players (default: all bots): {PLAYER}.")
    ] = None,
    folder: Annotated[Path, Option("--out", help="Folder of the programs.")] = Path("bots"),
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Write players as programs that any dealer of the competition can start.

    For example: counterplay acpc bots sparbot --out bots

    and then, with the competition's own script:

    ./play_match.pl match holdem.limit.2p.reverse_blinds.game 3000 1 A bots/sparbot.sh B ./other.sh
    """
    from counterplay.poker.acpc.server import acpc_seat
    from counterplay.poker.bots.registry import BOTS

    written: dict[str, str] = {}
    for player in players or BOTS:
        program = acpc_seat(player, 1, seed)
        if program.command is None or not program.ours:
            raise BadParameter(f"{player} is not built in; give a bot or a saved strategy")
        target = folder / f"{program.name}.sh"
        if str(target) in written.values():
            raise BadParameter(f"two players would be written to {target}; rename one of them")
        _write_program(target, program.command)
        written[player] = str(target)
    if as_json:
        print_json(written)
        return
    for player, place in written.items():
        out.print(f"{player:<14} {place}")


def _write_program(path: Path, command: tuple[str, ...]) -> None:
    from counterplay.core.base.files import write_text

    words = shlex.join(command)
    write_text(
        path,
        "#!/bin/sh\n# started with the host and the port of a dealer; what follows is ignored\n"
        f'exec {words} "$1" "$2"\n',
    )
    try:
        path.chmod(0o755)
    except OSError as error:
        raise CounterplayError(f"cannot make {path} a program: {error.strerror}") from None
