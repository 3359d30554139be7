"""The command `match`: two players, or a learner against one."""

from __future__ import annotations

import math
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from counterplay.app.cli.display import err, out, print_facts, print_json, share_progress
from counterplay.app.cli.options import PLAYER, AsJson, Ray, integer, use_ray
from counterplay.core.base.errors import BadParameter, Interrupted

if TYPE_CHECKING:
    from counterplay.core.forms.game import Game
    from counterplay.core.match.result import MatchResult

LEARN_EVERY = 1_000  # hands
THINKING = 150_000  # iterations of each seat at every learning
LEARNER = ("iterations", "equilibrium", "known", "budget", "memory")


def match(
    a: Annotated[str, typer.Argument(help=f"Who: {PLAYER}.")],
    b: Annotated[str | None, typer.Argument(help="As the first.")] = None,
    hands: Annotated[
        int,
        typer.Option(
            "-n", "--hands", help="Hands to play; a duplicate deal is two.", parser=integer
        ),
    ] = 100_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same cards.")] = 0,
    duplicate: Annotated[
        bool | None,
        typer.Option(
            "--duplicate/--no-duplicate",
            help="Play every deal twice, seats swapped (default: yes).",
        ),
    ] = None,
    game: Annotated[
        str | None, typer.Option(help="The game (default: that of the strategies, or hold'em).")
    ] = None,
    log: Annotated[
        Path | None, typer.Option(help="Write the hands there: .parquet, .phhs, or .log (ACPC).")
    ] = None,
    observer: Annotated[
        str | None, typer.Option(help="Log what a or b could see (default: all cards).")
    ] = None,
    learn: Annotated[
        bool,
        typer.Option(
            "--learn",
            help="Play the adaptive player against one opponent, with what it thinks.",
        ),
    ] = False,
    iterations: Annotated[
        int | None,
        typer.Option(
            help=f"With --learn: iterations of the learnt response, of each seat, at every "
            f"learning (default: {THINKING:,}).",
            parser=integer,
        ),
    ] = None,
    ray: Ray = None,
    equilibrium: Annotated[
        Path | None,
        typer.Option(help="With --learn: the strategy to start from (default: trained and kept)."),
    ] = None,
    known: Annotated[
        str | None,
        typer.Option(
            help="With --learn: players it knows, by commas: bots, saved models (.json), a folder "
            "of these, or nobody (default: all bots)."
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(help="With --learn: small bets that leaving the equilibrium may cost (500)."),
    ] = None,
    memory: Annotated[
        Path | None,
        typer.Option(
            help="With --learn: what it remembers (.parquet): read if it is there, written at "
            "the end."
        ),
    ] = None,
    luck: Annotated[
        bool | None,
        typer.Option(
            "--luck-adjusted/--no-luck-adjusted",
            help="Say also what is won with luck taken out (default: from 1,000 hands on).",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Play two strategies or bots against each other and say who wins, and how sure that is.

    For example: counterplay match uniform always-call
    Ctrl-C gives the result of the hands played so far, and logs these.
    """
    given = (iterations, equilibrium, known, budget, memory)
    learner = {name: value for name, value in zip(LEARNER, given, strict=True) if value is not None}
    _check_options(a, b, hands, learn, duplicate, learner, luck)
    if learn and ray is not None:
        raise BadParameter("a learner plays one hand after the other; leave out --ray")
    use_ray(ray)
    try:
        if learn:
            from counterplay.app.cli.learning import learn as play_learner
            from counterplay.poker.players import DEFAULT_GAME

            plan = {"log": log, "observer": observer}
            usual = game or DEFAULT_GAME
            stopped = play_learner(a, usual, hands, seed, learner, plan, as_json, share_progress)
        else:
            assert b is not None
            options = {
                "duplicate": duplicate is not False,
                "log": log,
                "observer": observer,
                "luck_adjusted": luck,
            }
            stopped = _match(a, b, hands, seed, game, options, as_json)
    except KeyboardInterrupt:
        err.print("stopped before a hand was played; there is no result")
        stopped = True
    if stopped:
        raise typer.Exit(130)


def _check_options(
    a: str,
    b: str | None,
    hands: int,
    learn: bool,
    duplicate: bool | None,
    learner: dict[str, Any],
    luck: bool | None,
) -> None:
    """Refuse what would do nothing."""
    if not learn:
        if b is None:
            from counterplay.poker.players import game_between

            other = "always-call" if game_between([a]).can("bots") else "uniform"
            words = shlex.join(["counterplay", "match", a, other])
            raise BadParameter(f"{a} against whom? For example: {words}")
        if learner:
            raise BadParameter(
                f"--{next(iter(learner))} is for a learner; add --learn, or leave it out"
            )
        return
    if luck is not None:
        raise BadParameter("--learn always says what is won with luck taken out; leave out --luck")
    if b is not None:
        raise BadParameter(
            "with --learn the learner plays against one opponent: counterplay match poki --learn"
        )
    if duplicate is not None:
        name = "--duplicate" if duplicate else "--no-duplicate"
        raise BadParameter(
            f"a learner remembers, so --learn plays every deal once; leave out {name}"
        )
    if 2 <= hands <= LEARN_EVERY:
        raise BadParameter(
            f"--learn learns after every {LEARN_EVERY:,} hands; play more than that, not {hands:,}"
        )


def _match(
    a: str,
    b: str,
    hands: int,
    seed: int,
    game: str | None,
    options: dict[str, Any],
    as_json: bool,
) -> bool:
    """Play and print; whether it was stopped."""
    from counterplay.core.match.play import play_match
    from counterplay.poker.players import game_between

    with share_progress("match") as progress:
        loaded = game_between((a, b), game)
        try:
            result = play_match(loaded, a, b, hands, seed, progress=progress, **options)
        except Interrupted as stop:
            if stop.result is None:
                raise KeyboardInterrupt from None
            result = cast("MatchResult", stop.result)
    if as_json:
        found = asdict(result) | {"a": a, "b": b, "interval": result.interval}
        found["unit"] = str(loaded.unit)
        if result.adjusted is not None:
            found["adjusted"] |= {"interval": result.adjusted.interval}
        print_json(found)
    else:
        _print_result(result, a, b, loaded, options["log"])
    return result.stopped


def _print_result(result: MatchResult, a: str, b: str, game: Game, log: Path | None) -> None:
    low, high = result.interval
    sure = (
        f"95% interval {low:+.4f} to {high:+.4f}"
        if math.isfinite(low)
        else "one deal says nothing of how sure that is"
    )
    out.print(f"{a} against {b}: {result.mean:+.4f} {game.unit}, {sure}")
    if result.adjusted is not None:
        fair, ends = result.adjusted, result.adjusted.interval
        text = f"luck-adjusted {fair.mean:+.4f} {game.unit}"
        if math.isfinite(ends[0]):
            text += f", 95% interval {ends[0]:+.4f} to {ends[1]:+.4f}"
        out.print(text)
    seats = game.seats
    facts = {
        "hands": result.hands,
        "duplicate": "yes, each deal in both seats" if result.duplicate else "no",
        "seats": "both"
        if result.seat is None
        else f"{a} in player {result.seat + 1}'s seat only, as {seats[result.seat]}",
        "standard error": result.standard_error
        if math.isfinite(result.standard_error)
        else "not known",
        **{f"{a} as {seats[k]}": result.by_seat[k] for k in (0, 1) if result.seat in (None, k)},
        "seed": result.seed,
        "hands per second": round(result.hands / max(result.seconds, 1e-9)),
    }
    facts |= {"hands written to": str(log)} if log is not None else {}
    facts |= {"stopped": "yes, before all hands were played"} if result.stopped else {}
    print_facts(facts, False)
