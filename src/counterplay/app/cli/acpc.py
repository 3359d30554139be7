"""The commands `acpc ...`: the protocol of the Annual Computer Poker Competition."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from counterplay.app.cli.display import err, out, print_facts, print_json, share_progress
from counterplay.app.cli.options import PLAYER, AsJson, Command, integer, refuse_given
from counterplay.core.base.errors import BadParameter, CounterplayError, Interrupted

if TYPE_CHECKING:
    from counterplay.core.match.result import MatchResult
    from counterplay.poker.acpc.client import AcpcResult
    from counterplay.poker.acpc.programs import AcpcSeat

acpc = typer.Typer(
    help="Programs of the Annual Computer Poker Competition.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
LEARNING = ("game", "iterations", "thinking")


@acpc.callback()
def _acpc() -> None:
    """Two-player limit hold'em by the protocol of the Annual Computer Poker Competition."""


@acpc.command(cls=Command)
def play(
    context: typer.Context,
    host: Annotated[str, typer.Argument(help="Where the dealer runs.")],
    port: Annotated[int, typer.Argument(help="The port of the seat, as the dealer says it.")],
    player: Annotated[str, typer.Option(help=f"Who plays: {PLAYER}.")],
    seed: Annotated[int, typer.Option(help="Of the player's random numbers, as in `match`.")] = 0,
    patience: Annotated[
        float, typer.Option(help="Seconds to wait for a dealer that does not listen yet.")
    ] = 10.0,
    game: Annotated[
        str, typer.Option(help="Adaptive: hold'em with the buckets it learns in.")
    ] = "holdem(buckets=10)",
    iterations: Annotated[
        int,
        typer.Option(
            help="Adaptive: iterations of the learnt response, of each seat, at every learning.",
            parser=integer,
        ),
    ] = 150_000,
    thinking: Annotated[
        float, typer.Option(help="Adaptive: seconds it may think at a learning.")
    ] = 60.0,
    as_json: AsJson = False,
) -> None:
    """Play for a dealer until it closes the connection.

    For example: counterplay acpc play localhost 16177 --player poki
    Ctrl-C says what was won until then. Adaptive learns the opponent while playing.
    """
    from counterplay.poker.acpc.client import check_port, play_acpc
    from counterplay.poker.acpc.player import AcpcPlayer
    from counterplay.poker.acpc.programs import ADAPTIVE

    check_port(port)
    stopped = False
    if player == ADAPTIVE:
        from counterplay.poker.adaptive.player import Adaptive

        with share_progress("portfolio") as progress:
            bot: Any = Adaptive(
                game, iterations=iterations, seconds=thinking, seed=seed, progress=progress
            )
    else:
        refuse_given(context, LEARNING, f"{player} does not learn while playing")
        bot = player
    with share_progress("tables") as progress:
        seated = AcpcPlayer(bot, seed, progress)
    try:
        result = play_acpc(host, port, seated, patience=patience)
    except Interrupted as stop:
        result, stopped = cast("AcpcResult", stop.result), True
    facts = {
        "player": player,
        "hands": result.hands,
        "won": result.won,
        "won per hand": result.won / result.hands if result.hands else None,
        "unit": "small bets",
        "seconds": result.seconds,
        "stopped": stopped,
    }
    print_facts(facts, as_json)
    if stopped:
        raise typer.Exit(130)


@acpc.command(cls=Command)
def deal(
    a: Annotated[
        str,
        typer.Argument(
            help=f"A program that is started with host and port (in quotes with its arguments), "
            f"the word wait, or one of ours: {PLAYER}."
        ),
    ],
    b: Annotated[str, typer.Argument(help="As the first.")],
    hands: Annotated[
        int, typer.Option("-n", "--hands", help="Hands to deal.", parser=integer)
    ] = 3_000,
    seed: Annotated[int, typer.Option(help="Of the cards: those of the competition's dealer.")] = 0,
    player_seed: Annotated[
        int, typer.Option(help="Of our players' random numbers, as in `match`.")
    ] = 0,
    names: Annotated[
        str | None, typer.Option(help="How the players are called in the log: A,B.")
    ] = None,
    name: Annotated[str, typer.Option(help="How the match is called in the log.")] = "match",
    log: Annotated[
        Path | None, typer.Option(help="Write the hands there, in the dealer's format.")
    ] = None,
    append: Annotated[bool, typer.Option("--append", help="Add to the log.")] = False,
    transcript: Annotated[
        Path | None, typer.Option(help="Write all messages there, as that dealer prints them.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="Where to listen; 0.0.0.0 lets other machines connect.")
    ] = "127.0.0.1",
    ports: Annotated[
        str, typer.Option(help="One for each seat: P1,P2; 0 is any that is free.")
    ] = "0,0",
    fixed_seats: Annotated[
        bool, typer.Option("--fixed-seats", help="A has the big blind in every hand.")
    ] = False,
    t_response: Annotated[int, typer.Option(help="Milliseconds for an answer.")] = 600_000,
    t_hand: Annotated[int, typer.Option(help="Milliseconds of a player in a hand.")] = 600_000,
    t_per_hand: Annotated[
        int, typer.Option(help="Milliseconds of a player in the match, per hand.")
    ] = 7_000,
    start_timeout: Annotated[
        int | None, typer.Option(help="Milliseconds to wait for players (default: no limit).")
    ] = None,
    own_processes: Annotated[
        bool,
        typer.Option(
            "--own-processes", help="A process for each of our players too; the match is the same."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Deal a match to two programs, ours or others', and say who wins and how sure that is.

    For example: counterplay acpc deal -n 3000 --seed 1 ./their_bot sparbot --log match.log
    Prints the two ports, then the SCORE, as the competition's dealer does, then the result.
    A player who is too late or goes away ends the match without a score, with exit code 1.
    Built-in bots but adaptive, and saved strategies, sit in the dealer's own process.
    """
    from counterplay.poker.acpc.dealer import DealerLimits, MatchAborted, MatchPlan
    from counterplay.poker.acpc.programs import acpc_seat
    from counterplay.poker.acpc.server import deal_acpc

    if append and log is None:
        raise BadParameter("--append adds to a log; say which with --log, or leave it out")
    seats = (acpc_seat(a, 1, player_seed), acpc_seat(b, 2, player_seed))
    if own_processes and all(one.in_process is None for one in seats):
        raise BadParameter(
            "--own-processes is for built-in bots and saved strategies, and nobody here is one; "
            "leave it out"
        )
    plan = MatchPlan(
        _names(names, seats),
        hands,
        seed,
        DealerLimits(t_response, t_hand, t_per_hand, start_timeout),
        fixed_seats,
        name,
        log,
        append,
        transcript,
    )
    say = err if as_json else out
    try:
        with share_progress("match") as progress:
            result = deal_acpc(
                plan,
                seats,
                host=host,
                ports=_ports(ports),
                opened=lambda numbers: say.print(f"{numbers[0]} {numbers[1]}"),
                warn=lambda sentence: err.print(sentence),
                scored=lambda line: say.print(line.rstrip()),
                progress=progress,
                own_processes=own_processes,
            )
    except MatchAborted as error:
        err.print(str(error))
        raise typer.Exit(1) from None
    except Interrupted as stop:
        if stop.result is None:
            raise KeyboardInterrupt from None
        result = cast("MatchResult", stop.result)
    _report(result, log, as_json)
    if result.stopped:
        raise typer.Exit(130)


def _names(text: str | None, seats: tuple[AcpcSeat, AcpcSeat]) -> tuple[str, str]:
    if text is None:
        one, two = seats[0].name, seats[1].name
        return (one, two) if one != two else (f"{one}.1", f"{two}.2")
    one, comma, two = text.partition(",")
    if not comma or one == two:
        raise BadParameter(f"--names are two different ones with a comma between, not {text!r}")
    return one, two


def _ports(text: str) -> tuple[int, int]:
    try:
        one, two = (int(part) for part in text.split(","))
    except ValueError:
        raise BadParameter(f"--ports are two numbers with a comma between, not {text!r}") from None
    if not (0 <= one < 2**16 and 0 <= two < 2**16):
        raise BadParameter(f"a port is a number from 0 to {2**16 - 1}; got {text!r}")
    return one, two


def _report(result: MatchResult, log: Path | None, as_json: bool) -> None:
    if as_json:
        found = asdict(result) | {"interval": result.interval, "unit": "sb/h"}
        found["log"] = None if log is None else str(log)
        print_json(found)
        return
    low, high = result.interval
    won = f"{result.mean:+.4f} sb/h, 95% interval {low:+.4f} to {high:+.4f}"
    out.print(f"{result.a} against {result.b}: {won}")
    seats = ("the dealer", "the big blind")
    facts: dict[str, Any] = {
        "hands": result.hands,
        **{f"{result.a} as {seats[k]}": result.by_seat[k] for k in (0, 1)},
        "hands per second": round(result.hands / max(result.seconds, 1e-9)),
    }
    if result.seat is not None:
        del facts[f"{result.a} as {seats[1 - result.seat]}"]
    facts |= {"hands written to": str(log)} if log is not None else {}
    facts |= {"stopped": "yes, before all hands were dealt"} if result.stopped else {}
    print_facts(facts, False)


@acpc.command(cls=Command)
def bots(
    players: Annotated[
        list[str] | None, typer.Argument(help=f"Who (default: all bots): {PLAYER}.")
    ] = None,
    folder: Annotated[Path, typer.Option("--out", help="Where the programs go.")] = Path("bots"),
    seed: Annotated[int, typer.Option(help="Of their random numbers.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Write our players as programs that any dealer can start with host and port.

    For example: counterplay acpc bots sparbot --out bots
    and then, with the competition's own script:
    ./play_match.pl match holdem.limit.2p.reverse_blinds.game 3000 1 A bots/sparbot.sh B ./other.sh
    """
    from counterplay.poker.acpc.programs import ADAPTIVE, acpc_seat, our_command
    from counterplay.poker.bots.registry import BOTS

    written: dict[str, str] = {}
    for player in players or BOTS:
        who = acpc_seat(player, 1, seed)
        if who.command is None or who.command[:2] != our_command(ADAPTIVE)[:2]:
            raise BadParameter(f"{player} is none of ours; give a bot or a saved strategy")
        target = folder / f"{who.name}.sh"
        if str(target) in written.values():
            raise BadParameter(f"two players would be written to {target}; rename one of them")
        _write_program(target, who.command)
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
        path, f'#!/bin/sh\n# started with the host and the port of a dealer\nexec {words} "$@"\n'
    )
    try:
        path.chmod(0o755)
    except OSError as error:
        raise CounterplayError(f"cannot make {path} a program: {error.strerror}") from None
