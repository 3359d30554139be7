"""The command `match`: a match of two players, or of the adaptive player against one, with a live
table of its state (`--learn`)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
from counterplay.app.cli.options import PLAYER, AsJson, Ray, Seed, integer, use_ray
from counterplay.core.base.errors import BadParameter, whole_number

if TYPE_CHECKING:
    from counterplay.core.base.progress import ProgressCallback
    from counterplay.core.forms.game import Game
    from counterplay.core.match.learning import AdaptiveBlock
    from counterplay.core.match.result import MatchResult
    from counterplay.core.responses.adaptive import TreeAdaptive
    from counterplay.poker.adaptive.player import Adaptive

LEARN_EVERY = 1_000  # hands
LEARN_ITERATIONS = 150_000  # of each seat at every update of the response
LEARNER_OPTIONS = ("iterations", "equilibrium", "known", "budget", "memory")
NOBODY = "nobody"
MOST_FINDINGS = 5  # printed
STANDING = ("playing", "why", "advice", "confirmed", "budget", "changes")  # in JSON


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
    iterations: Annotated[
        int | None,
        Option(
            help=f"With --learn: iterations of each seat at every update of the response "
            f"(default: {LEARN_ITERATIONS:,}).",
            parser=integer,
        ),
    ] = None,
    ray: Ray = None,
    equilibrium: Annotated[
        Path | None,
        Option(help="With --learn: the strategy to start from (default: shipped, or trained)."),
    ] = None,
    known: Annotated[
        str | None,
        Option(
            help="With --learn: players it knows, separated by commas: bots, saved models (.json), "
            "a folder of these, or nobody (default: all bots); in a game with a tree, strategies "
            "(default: uniform)."
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
    values = (iterations, equilibrium, known, budget, memory)
    pairs = zip(LEARNER_OPTIONS, values, strict=True)
    learner = {name: value for name, value in pairs if value is not None}
    if learn:
        swap = "--duplicate" if duplicate else "--no-duplicate"
        ignored = {swap: duplicate, "--luck-adjusted": luck, "--ray": ray}
        _check_learner(b, [name for name, value in ignored.items() if value is not None])
    else:
        _check_match(a, b, game, learner)
    use_ray(ray)
    plan: dict[str, Any] = {"log": log, "observer": observer}
    try:
        if learn:
            from counterplay.poker.players import game_between

            played = game_between([a], game)
            stopped = _learn(a, played, hands, seed, learner | plan, as_json)
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


def _check_learner(b: str | None, ignored: list[str]) -> None:
    """Refuses a second player, and options that have no effect with --learn."""
    if b is not None:
        raise BadParameter(
            "with --learn the learner plays against one opponent: counterplay match poki --learn"
        )
    if ignored:
        raise BadParameter(
            "a learner plays every deal once, in order, and its result is luck-adjusted; leave "
            f"out {', '.join(ignored)}"
        )


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


def _learn(
    opponent: str, game: Game, hands: int, seed: int, options: dict[str, Any], as_json: bool
) -> bool:
    """Plays the adaptive player and prints a row per block; returns whether it was stopped."""
    from counterplay.core.kernels.rng import check_seed
    from counterplay.core.match.play import check_hands
    from counterplay.poker.adaptive.play import play_adaptive
    from counterplay.poker.match.match import new_log
    from counterplay.poker.players import bot

    blocks: list[AdaptiveBlock] = []
    stopped, memory = False, options.pop("memory", None)
    plan = {name: options.pop(name) for name in ("log", "observer")}
    check_hands(hands)
    if game.can("bots") and hands <= LEARN_EVERY:
        raise BadParameter(
            f"--learn learns after every {LEARN_EVERY:,} hands; play more than that, not {hands:,}"
        )
    check_seed(seed)
    whole_number(options.get("iterations", 0), 0, None, "iterations")
    target = new_log(plan["log"], plan["observer"])
    if target is not None:
        target.check()
    try:
        with share_progress("learning while playing") as progress:
            player: Adaptive | TreeAdaptive
            if game.can("bots"):
                other = bot(opponent, progress, game.name)
                player = _player(game, seed, options, memory, progress)
            else:
                other, player = opponent, _tree_player(game, options, memory)
            plan |= {"player": player, "every": min(LEARN_EVERY, hands), "progress": progress}
            with _table(as_json, str(game.unit)) as show:
                for block in play_adaptive(other, hands, seed, **plan):
                    blocks.append(block)
                    show(blocks)
    except KeyboardInterrupt:
        if not blocks:
            raise
        stopped = True
    if memory is not None:
        player.save(memory)
    if as_json:
        rows = [_row(block) for block in blocks]
        print_json(
            {"opponent": opponent, "unit": str(game.unit), "blocks": rows, "stopped": stopped}
        )
        return stopped
    standing = blocks[-1].standing
    for line in [] if out.is_terminal else _state_lines(blocks[-1]):
        out.print(line)
    left = f"{standing.budget:,.0f} sb" if game.can("bots") else f"{standing.budget:,.3f}"
    out.print(f"budget left: {left}; thinking {standing.thinking:.1f} ms a hand")
    for what, path in (("hands", plan["log"]), ("memory", memory)):
        if path is not None:
            out.print(f"{what} written to {path}")
    if stopped:
        out.print("stopped before all hands were played")
    return stopped


def _player(
    game: Game, seed: int, options: dict[str, Any], memory: Path | None, progress: ProgressCallback
) -> Adaptive:
    from counterplay.poker.adaptive.player import Adaptive
    from counterplay.poker.adaptive.portfolio import MODELS, portfolio
    from counterplay.poker.players import find_strategy

    if memory is not None and memory.suffix != ".parquet":
        raise BadParameter(f"a memory is a file of hand histories, .parquet, not {memory}")
    safe = options.pop("equilibrium", None)
    strategy = None if safe is None else find_strategy(str(safe), game.name)
    names = _known_names(options)
    models: Any = MODELS if names is None else names
    if names and len(names) == 1 and Path(names[0]).is_dir():
        models = names[0]
    players = portfolio(game, models, equilibrium=strategy, progress=progress)
    read = memory if memory is not None and memory.exists() else None
    return Adaptive(portfolio=players, seed=seed, memory=read, **options)


def _tree_player(game: Game, options: dict[str, Any], memory: Path | None) -> TreeAdaptive:
    """The adaptive player of a game with a tree, which draws no random numbers."""
    from counterplay.core.games.players import UNIFORM, as_strategy
    from counterplay.core.responses.adaptive import TreeAdaptive

    if memory is not None and memory.suffix != ".npz":
        raise BadParameter(f"in {game.name} a memory is a file of arrays, .npz, not {memory}")
    safe = options.pop("equilibrium", None)
    names = _known_names(options)
    return TreeAdaptive(
        game,
        portfolio=(UNIFORM,) if names is None else names,
        equilibrium=None if safe is None else as_strategy(game, str(safe)),
        memory=memory if memory is not None and memory.exists() else None,
        **options,
    )


def _known_names(options: dict[str, Any]) -> list[str] | None:
    """The players of --known; none for nobody. None: not given."""
    text = options.pop("known", None)
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    return [] if names == [NOBODY] else names


@contextmanager
def _table(as_json: bool, unit: str) -> Iterator[Any]:
    """A callback that shows the blocks: a live table on a terminal, otherwise a line each."""
    if as_json:
        yield lambda blocks: None
    elif not out.is_terminal:
        yield lambda blocks: out.print(_line(blocks[-1], unit))
    else:
        from rich.live import Live

        with Live(console=out, auto_refresh=False) as live:
            yield lambda blocks: live.update(_figure(blocks, unit), refresh=True)


def _line(block: AdaptiveBlock, unit: str) -> str:
    return (
        f"{block.hands:>9,} hands   last block {block.won:+.3f}   "
        f"so far {_plus_minus(block, 4)} {unit} (95%)   "
        f"luck-adjusted {_plus_minus(block.adjusted, 4)} {unit} (95%)   {block.standing.playing}"
    )


def _figure(blocks: list[AdaptiveBlock], unit: str) -> Any:
    from rich.console import Group
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    for name in ("hands", "last block", f"so far, {unit} (95%)", "luck-adjusted (95%)", "plays"):
        table.add_column(name, justify="right" if name != "plays" else "left")
    for block in blocks[-12:]:
        means = _plus_minus(block, 3), _plus_minus(block.adjusted, 3)
        table.add_row(f"{block.hands:,}", f"{block.won:+.3f}", *means, block.standing.playing)
    return Group(table, *_state_lines(blocks[-1]))


def _state_lines(block: AdaptiveBlock) -> list[str]:
    """The response that is played and why, and the confirmed findings."""
    standing = block.standing
    lines = [f"now plays: {standing.plays}; {standing.why}"]
    if standing.advice:
        lines.append(f"would do: {standing.advice}")
    if standing.changes:
        lines.append(f"the opponent changed at hand {standing.changes[-1]:,}")
    lines += [f"confirmed: {text}" for text in standing.confirmed[:MOST_FINDINGS]]
    if len(standing.confirmed) > MOST_FINDINGS:
        lines.append(f"and {len(standing.confirmed) - MOST_FINDINGS} more")
    return lines


def _plus_minus(result: Any, digits: int) -> str:
    """The mean of a result and half its 95% interval."""
    half = (result.interval[1] - result.interval[0]) / 2
    return f"{result.mean:+.{digits}f} ± " + (
        f"{half:.{digits}f}" if math.isfinite(half) else "unknown"
    )


def _row(block: AdaptiveBlock) -> dict[str, Any]:
    assert block.adjusted is not None  # the player has a portfolio
    return {
        "hands": block.hands,
        "last_block": block.won,
        "mean": block.mean,
        "half_interval": block.interval[1] - block.mean,
        "adjusted": block.adjusted.mean,
        "adjusted_half_interval": block.adjusted.interval[1] - block.adjusted.mean,
        **{name: getattr(block.standing, name) for name in STANDING},
    }
