"""`counterplay match BOT --learn`: the adaptive player, with a live table of its state."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterplay.app.cli.display import out, print_json, share_progress
from counterplay.core.base.errors import BadParameter

if TYPE_CHECKING:
    from counterplay.core.base.progress import ProgressCallback
    from counterplay.core.match.result import Adjusted
    from counterplay.poker.adaptive.play import AdaptiveBlock
    from counterplay.poker.adaptive.player import Adaptive

BLOCK_HANDS = 1_000
NOBODY = "nobody"
MOST_FINDINGS = 5  # printed


def learn(
    opponent: str,
    game: str,
    hands: int,
    seed: int,
    options: dict[str, Any],
    plan: dict[str, Any],
    as_json: bool,
) -> bool:
    """Plays and prints a row per block; returns whether it was stopped."""
    from counterplay.core.kernels.rng import check_seed
    from counterplay.core.match.play import check_hands
    from counterplay.poker.adaptive.play import play_adaptive
    from counterplay.poker.adaptive.player import check_iterations
    from counterplay.poker.match.log import new_log
    from counterplay.poker.players import bot

    blocks: list[AdaptiveBlock] = []
    stopped = False
    memory = options.pop("memory", None)
    check_hands(hands)
    check_seed(seed)
    check_iterations(options.get("iterations", 0))
    target = new_log(plan["log"], plan["observer"])
    if target is not None:
        target.check()
    try:
        with share_progress("learning while playing") as progress:
            other = bot(opponent, progress, game)
            player = _player(game, seed, options, memory, progress)
            with _table(as_json) as show:
                for block in play_adaptive(
                    other, hands, seed, player=player, every=BLOCK_HANDS, progress=progress, **plan
                ):
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
        print_json({"opponent": opponent, "unit": "sb/h", "blocks": rows, "stopped": stopped})
        return stopped
    _print_end(blocks[-1])
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
        raise BadParameter(f"a memory is a file of hand histories, .parquet, not {memory}")
    safe = options.pop("equilibrium", None)
    strategy = None if safe is None else find_strategy(str(safe), game)
    text = options.pop("known", None)
    models: Any = MODELS
    if text is not None:
        names = [name.strip() for name in text.split(",") if name.strip()]
        models = () if names == [NOBODY] else names
        if len(names) == 1 and Path(names[0]).is_dir():
            models = names[0]
    players = portfolio(load(game), models, equilibrium=strategy, progress=progress)
    read = memory if memory is not None and memory.exists() else None
    return Adaptive(portfolio=players, seed=seed, memory=read, **options)


@contextmanager
def _table(as_json: bool) -> Iterator[Any]:
    """A callback that shows the blocks: a live table on a terminal, otherwise a line each."""
    if as_json:
        yield lambda blocks: None
    elif not out.is_terminal:
        yield lambda blocks: out.print(_line(blocks[-1]))
    else:
        from rich.live import Live

        with Live(console=out, auto_refresh=False) as live:
            yield lambda blocks: live.update(_figure(blocks), refresh=True)


def _line(block: AdaptiveBlock) -> str:
    adjusted = _adjusted(block)
    return (
        f"{block.hands:>9,} hands   last block {block.won:+.3f}   "
        f"so far {_plus_minus(block, 4)} sb/h (95%)   "
        f"luck-adjusted {_plus_minus(adjusted, 4)} sb/h (95%)   {block.standing.playing}"
    )


def _figure(blocks: list[AdaptiveBlock]) -> Any:
    from rich.console import Group
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    for name in ("hands", "last block", "so far, sb/h (95%)", "luck-adjusted (95%)", "plays"):
        table.add_column(name, justify="right" if name != "plays" else "left")
    for block in blocks[-12:]:
        means = _plus_minus(block, 3), _plus_minus(_adjusted(block), 3)
        table.add_row(f"{block.hands:,}", f"{block.won:+.3f}", *means, block.standing.playing)
    return Group(table, *_state_lines(blocks[-1]))


def _state_lines(block: AdaptiveBlock) -> list[str]:
    """The response that is played and why, and the confirmed findings."""
    standing = block.standing
    lines = [f"now plays: {standing.playing}; {standing.why}"]
    if standing.changes:
        lines.append(f"the opponent changed at hand {standing.changes[-1]:,}")
    lines += [f"confirmed: {text}" for text in standing.confirmed[:MOST_FINDINGS]]
    if len(standing.confirmed) > MOST_FINDINGS:
        lines.append(f"and {len(standing.confirmed) - MOST_FINDINGS} more")
    return lines


def _print_end(block: AdaptiveBlock) -> None:
    if not out.is_terminal:
        for line in _state_lines(block):
            out.print(line)
    standing = block.standing
    out.print(f"budget left: {standing.budget:,.0f} sb; thinking {standing.thinking:.1f} ms a hand")


def _adjusted(block: AdaptiveBlock) -> Adjusted:
    assert block.adjusted is not None  # the player has a portfolio
    return block.adjusted


def _plus_minus(result: Any, digits: int) -> str:
    """The mean of a result and half its 95% interval."""
    half = (result.interval[1] - result.interval[0]) / 2
    half = half if math.isfinite(half) else math.nan
    return f"{result.mean:+.{digits}f} ± {half:.{digits}f}"


def _row(block: AdaptiveBlock) -> dict[str, Any]:
    adjusted, standing = _adjusted(block), block.standing
    return {
        "hands": block.hands,
        "last_block": block.won,
        "mean": block.mean,
        "half_interval": block.interval[1] - block.mean,
        "adjusted": adjusted.mean,
        "adjusted_half_interval": adjusted.interval[1] - adjusted.mean,
        "playing": standing.playing,
        "why": standing.why,
        "confirmed": list(standing.confirmed),
        "budget": standing.budget,
        "changes": list(standing.changes),
    }
