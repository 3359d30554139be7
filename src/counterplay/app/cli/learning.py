"""`match --learn`: the adaptive player against one opponent, with a live table of its state."""

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
    from counterplay.core.forms.game import Game
    from counterplay.core.match.learning import AdaptiveBlock
    from counterplay.core.responses.adaptive import TreeAdaptive
    from counterplay.poker.adaptive.player import Adaptive

LEARN_EVERY = 1_000  # hands
NOBODY = "nobody"
MOST_FINDINGS = 5  # printed
STANDING = ("playing", "why", "advice", "confirmed", "budget", "changes")  # in JSON


def check_learner(b: str | None, ignored: list[str]) -> None:
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


def play_learner(
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
