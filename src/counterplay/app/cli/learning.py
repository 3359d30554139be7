"""`counterplay match BOT --learn`: the adaptive player, with a live table of what it thinks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterplay.app.cli.display import out, print_json
from counterplay.core.base.errors import BadParameter

if TYPE_CHECKING:
    from counterplay.core.base.progress import ProgressCallback
    from counterplay.core.match.result import Adjusted
    from counterplay.poker.adaptive.play import AdaptiveBlock
    from counterplay.poker.adaptive.player import Adaptive

EVERY = 1_000  # hands of a row
NOBODY = "nobody"
Progress = Callable[[str], AbstractContextManager[Any]]
SHOWN = 5  # findings


def learn(
    opponent: str,
    game: str,
    hands: int,
    seed: int,
    options: dict[str, Any],
    plan: dict[str, Any],
    as_json: bool,
    open_progress: Progress,
) -> bool:
    """Play and print a row per block; whether it was stopped."""
    from counterplay.core.kernels.rng import check_seed
    from counterplay.core.match.play import check_hands
    from counterplay.poker.adaptive.play import play_adaptive
    from counterplay.poker.adaptive.player import check_iterations
    from counterplay.poker.match.log import new_log
    from counterplay.poker.players import bot

    found: list[AdaptiveBlock] = []
    stopped = False
    memory = options.pop("memory", None)
    check_hands(hands)
    check_seed(seed)
    check_iterations(options.get("iterations", 0))
    target = new_log(plan["log"], plan["observer"])
    if target is not None:
        target.check()
    try:
        with open_progress("learning while playing") as progress:
            foe = bot(opponent, progress, game)
            player = _player(game, seed, options, memory, progress)
            with _table(as_json) as show:
                for block in play_adaptive(
                    foe, hands, seed, player=player, every=EVERY, progress=progress, **plan
                ):
                    found.append(block)
                    show(found)
    except KeyboardInterrupt:
        if not found:
            raise
        stopped = True
    if memory is not None:
        player.save(memory)
    if as_json:
        rows = [_row(block) for block in found]
        print_json({"opponent": opponent, "unit": "sb/h", "blocks": rows, "stopped": stopped})
        return stopped
    _print_end(found[-1])
    for what, path in (("hands", plan["log"]), ("memory", memory)):
        if path is not None:
            out.print(f"{what} written to {path}")
    if stopped:
        out.print("stopped before all hands were played")
    return stopped


def _player(
    game: str, seed: int, options: dict[str, Any], memory: Path | None, progress: ProgressCallback
) -> Adaptive:
    from counterplay.core.forms.registry import load
    from counterplay.poker.adaptive.player import Adaptive
    from counterplay.poker.adaptive.portfolio import MODELS, portfolio
    from counterplay.poker.players import find_strategy

    if memory is not None and memory.suffix != ".parquet":
        raise BadParameter(f"a memory is a file of hands, .parquet, not {memory}")
    safe = options.pop("equilibrium", None)
    strategy = None if safe is None else find_strategy(str(safe), game)
    known = options.pop("known", None)
    models: Any = MODELS
    if known is not None:
        names = [name.strip() for name in known.split(",") if name.strip()]
        models = () if names == [NOBODY] else names
        if len(names) == 1 and Path(names[0]).is_dir():
            models = names[0]
    known_players = portfolio(load(game), models, equilibrium=strategy, progress=progress)
    there = memory if memory is not None and memory.exists() else None
    return Adaptive(portfolio=known_players, seed=seed, memory=there, **options)


@contextmanager
def _table(as_json: bool) -> Iterator[Any]:
    """What shows blocks as they come: a live table on a terminal, otherwise a line each."""
    if as_json:
        yield lambda found: None
    elif not out.is_terminal:
        yield lambda found: out.print(_line(found[-1]))
    else:
        from rich.live import Live

        with Live(console=out, auto_refresh=False) as live:
            yield lambda found: live.update(_figure(found), refresh=True)


def _line(block: AdaptiveBlock) -> str:
    fair = _adjusted(block)
    return (
        f"{block.hands:>9,} hands   last block {block.won:+.3f}   "
        f"so far {block.mean:+.4f} ± {_half(block.interval):.4f} sb/h   "
        f"luck-adjusted {fair.mean:+.4f} ± {_half(fair.interval):.4f}   {block.standing.playing}"
    )


def _figure(found: list[AdaptiveBlock]) -> Any:
    from rich.console import Group
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    for name in ("hands", "last block", "so far, sb/h", "luck-adjusted", "plays"):
        table.add_column(name, justify="right" if name != "plays" else "left")
    for block in found[-12:]:
        fair = _adjusted(block)
        table.add_row(
            f"{block.hands:,}",
            f"{block.won:+.3f}",
            f"{block.mean:+.3f} ± {_half(block.interval):.3f}",
            f"{fair.mean:+.3f} ± {_half(fair.interval):.3f}",
            block.standing.playing,
        )
    return Group(table, *_thoughts(found[-1]))


def _thoughts(block: AdaptiveBlock) -> list[str]:
    """Who plays and why, and what has been confirmed."""
    standing = block.standing
    lines = [f"now plays: {standing.playing}; {standing.why}"]
    if standing.changes:
        lines.append(f"the opponent became another at hand {standing.changes[-1]:,}")
    lines += [f"confirmed: {text}" for text in standing.confirmed[:SHOWN]]
    more = len(standing.confirmed) - SHOWN
    if more > 0:
        lines.append(f"and {more} more")
    return lines or ["nothing is confirmed yet"]


def _print_end(block: AdaptiveBlock) -> None:
    if not out.is_terminal:
        for line in _thoughts(block):
            out.print(line)
    standing = block.standing
    out.print(f"budget left: {standing.budget:,.0f} sb; thinking {standing.thinking:.1f} ms a hand")


def _adjusted(block: AdaptiveBlock) -> Adjusted:
    assert block.adjusted is not None  # as the player has a portfolio
    return block.adjusted


def _half(interval: tuple[float, float]) -> float:
    half = (interval[1] - interval[0]) / 2
    return half if math.isfinite(half) else float("nan")


def _row(block: AdaptiveBlock) -> dict[str, Any]:
    fair, standing = _adjusted(block), block.standing
    return {
        "hands": block.hands,
        "last_block": block.won,
        "mean": block.mean,
        "half_interval": block.interval[1] - block.mean,
        "adjusted": fair.mean,
        "adjusted_half_interval": fair.interval[1] - fair.mean,
        "playing": standing.playing,
        "why": standing.why,
        "confirmed": list(standing.confirmed),
        "budget": standing.budget,
        "changes": list(standing.changes),
    }
