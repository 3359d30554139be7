"""The command `match`: a match of two players or more, or of the adaptive player against one
(`learning.py`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from counterplay.app.cli.display import (
    err,
    out,
    print_facts,
    print_json,
    share_progress,
    suggested,
    until_stopped,
)
from counterplay.app.cli.learning import check_learner, play_learner
from counterplay.app.cli.options import PLAYER, AsJson, Ray, Seed, integer, use_ray
from counterplay.core.base.errors import BadParameter

if TYPE_CHECKING:
    from counterplay.core.forms.game import Game
    from counterplay.core.match.result import MatchResult

LEARNER_OPTIONS = ("equilibrium", "known", "budget", "memory")


def match(
    a: Annotated[str, Argument(help=f"A player: {PLAYER}.")],
    b: Annotated[str | None, Argument(help="The other player, as the first.")] = None,
    others: Annotated[
        list[str] | None, Argument(help="The third player and so on, of a game of more than two.")
    ] = None,
    hands: Annotated[
        int,
        Option("-n", "--hands", help="Hands to play; a duplicate deal is two.", parser=integer),
    ] = 100_000,
    seed: Seed = 0,
    duplicate: Annotated[
        bool | None, Option(help="Play every deal twice, seats swapped (default: yes).")
    ] = None,
    game: Annotated[
        str | None, Option(help="The game (default: that of the strategies, or hold'em).")
    ] = None,
    log: Annotated[
        Path | None, Option(help="Write the hand histories: .parquet, .phhs, or .log (ACPC).")
    ] = None,
    observer: Annotated[
        str | None, Option(help="Log only what a or b could see (default: all cards).")
    ] = None,
    learn: Annotated[
        bool, Option("--learn", help="Play the adaptive player against one opponent.")
    ] = False,
    ray: Ray = None,
    equilibrium: Annotated[
        Path | None,
        Option(help="With --learn: the strategy to start from (default: shipped, or trained)."),
    ] = None,
    known: Annotated[
        str | None,
        Option(
            help="With --learn: players it knows, separated by commas: bots, types of weak "
            "players, saved models (.json), a folder of these, or nobody (default: all bots and "
            "types); in a game with a tree, strategies (default: uniform)."
        ),
    ] = None,
    budget: Annotated[
        float | None,
        Option(
            help="With --learn: what its deviations may cost (default: 500 small bets; in a game "
            "with a tree twenty times the largest loss of a hand)."
        ),
    ] = None,
    memory: Annotated[
        Path | None,
        Option(
            help="With --learn: its memory (.parquet; in a game with a tree .npz), read at the "
            "start, written at the end."
        ),
    ] = None,
    luck: Annotated[
        bool | None,
        Option(
            "--luck-adjusted/--no-luck-adjusted",
            help="Also give the luck-adjusted result (default: from 1,000 hands on).",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Play a match of strategies or bots. Print the result with its 95% interval.

    For example: counterplay match uniform always-call

    Ctrl-C prints the result of the hands played so far, and logs them.
    """
    values = (equilibrium, known, budget, memory)
    pairs = zip(LEARNER_OPTIONS, values, strict=True)
    learner = {name: value for name, value in pairs if value is not None}
    if learn:
        swap = "--duplicate" if duplicate else "--no-duplicate"
        ignored = {swap: duplicate, "--luck-adjusted": luck, "--ray": ray}
        check_learner(b, [name for name, value in ignored.items() if value is not None])
    else:
        _check_match(a, b, game, learner)
    use_ray(ray)
    plan: dict[str, Any] = {"log": log, "observer": observer}
    try:
        if learn:
            from counterplay.poker.players import game_between

            played = game_between([a], game)
            stopped = play_learner(a, played, hands, seed, learner | plan, as_json)
        else:
            assert b is not None
            options = {"duplicate": duplicate is not False, "luck_adjusted": luck}
            players = [a, b, *(others or ())]
            stopped = _match(players, hands, seed, game, {**options, **plan}, as_json)
    except KeyboardInterrupt:
        err.print("stopped before a hand was played; there is no result")
        stopped = True
    if stopped:
        raise typer.Exit(130)


def _check_match(a: str, b: str | None, game: str | None, learner: dict[str, Any]) -> None:
    """Refuses a match without a second player, and options of a learner."""
    if b is None:
        from counterplay.poker.players import game_between

        loaded = game_between([a], game)
        others = ["always-call"] if loaded.can("bots") else ["uniform"] * (loaded.n_players - 1)
        named = ["--game", game] if game is not None else []
        words = suggested("match", a, *others, *named)
        raise BadParameter(f"{a} against whom? For example: {words}")
    if learner:
        name = next(iter(learner))
        raise BadParameter(f"--{name} is for a learner; add --learn, or leave it out")


def _match(
    players: list[str],
    hands: int,
    seed: int,
    game: str | None,
    options: dict[str, Any],
    as_json: bool,
) -> bool:
    """Plays and prints; returns whether it was stopped."""
    from counterplay.core.match.play import play_match
    from counterplay.poker.acpc.program import PREFIX, player_or_program
    from counterplay.poker.players import game_between

    a, b, *others = players
    with share_progress("match") as progress:
        one, two = player_or_program(a), player_or_program(b)
        words = [player for player in players if not player.startswith(PREFIX)]
        loaded = game_between(words, game)
        options |= {"progress": progress, "others": others}
        result, _ = until_stopped(partial(play_match, loaded, one, two, hands, seed, **options))
    if as_json:
        facts = asdict(result) | {"a": a, "b": b, "interval": result.interval}
        facts["each"] = [
            one._asdict() | {"name": name} for one, name in zip(result.each, players, strict=False)
        ]
        if not others:
            del facts["each"]
        if result.adjusted is not None:
            facts["adjusted"] |= {"interval": result.adjusted.interval}
        print_json(facts)
    elif others:
        _print_several(result, players, loaded)
    else:
        _print_result(result, a, b, loaded, options["log"])
    return bool(result.stopped)


def _print_several(result: MatchResult, players: list[str], game: Game) -> None:
    """The winnings of each of more than two players."""
    for k, (name, one) in enumerate(zip(players, result.each, strict=True), 1):
        interval = interval_text(result.of_player(one)) or ", too few deals for an interval"
        out.print(f"{k}. {name}: {one.mean:+.4f} {game.unit}{interval}")
    facts: dict[str, Any] = {"hands": result.hands, "seed": result.seed}
    facts["duplicate"] = "yes, each deal in all rotations" if result.duplicate else "no"
    print_facts(facts | end_facts(result, None), False)


def _print_result(result: MatchResult, a: str, b: str, game: Game, log: Path | None) -> None:
    interval = interval_text(result) or ", too few deals for an interval"
    out.print(f"{a} against {b}: {result.mean:+.4f} {game.unit}{interval}")
    if result.adjusted is not None:
        text = f"luck-adjusted {result.adjusted.mean:+.4f} {game.unit}"
        out.print(text + interval_text(result.adjusted))
    seats, error, where = game.seats, result.standard_error, "both"
    if result.seat is not None:
        where = f"{a} in player {result.seat + 1}'s seat only, as {seats[result.seat]}"
    facts = {
        "hands": result.hands,
        "duplicate": "yes, each deal in both seats" if result.duplicate else "no",
        "seats": where,
        "standard error": error if math.isfinite(error) else "not known",
        **seat_facts(result, a, seats),
        "seed": result.seed,
        **end_facts(result, log),
    }
    print_facts(facts, False)


def interval_text(result: Any) -> str:
    """`, 95% interval ...` of a result; empty where one deal was played."""
    low, high = result.interval
    return f", 95% interval {low:+.4f} to {high:+.4f}" if math.isfinite(low) else ""


def seat_facts(result: MatchResult, name: str, seats: Sequence[str]) -> dict[str, float]:
    """What `name` won in each seat that it played."""
    played = (0, 1) if result.seat is None else (result.seat,)
    return {f"{name} as {seats[k]}": result.by_seat[k] for k in played}


def end_facts(result: MatchResult, log: Path | None) -> dict[str, Any]:
    """The speed, the log, and whether the match was stopped."""
    facts: dict[str, Any] = {"hands per second": round(result.hands / max(result.seconds, 1e-9))}
    facts |= {"hands written to": str(log)} if log is not None else {}
    facts |= {"stopped": "yes, before all hands were played"} if result.stopped else {}
    return facts
