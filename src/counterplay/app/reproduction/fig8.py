"""Figure 8: playing Poki while the response is being learnt, about 6 million iterations for every
1,000 games.

As in the paper the model (a decision tree from 20,000 observed games) is given and the response to
it improves: `mcdbr`, outcome sampling, Pconf = 0.75, 10 buckets. Beyond the paper, the model too is
learnt while playing, from nothing, with Pconf from the number of observations; and an adaptive
player without prior models starts from an equilibrium and leaves it as evidence comes in
(`cp.Adaptive`). The games of one block have an error of ± 0.3 sb/h, so each policy is also frozen
and measured over more, duplicate, hands. It must win more from Poki than MCCFR10 and than its own
earlier policy, not only more than uniform play, with which it starts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.app.reproduction.harness import old_judge as judge
from counterplay.app.reproduction.harness.base import (
    Experiment,
    Outcome,
    source_version,
    stage_progress,
)
from counterplay.app.reproduction.harness.old_judge import Claim, Interval, RuleVariant, Winnings
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.app.reproduction.players import (
    MATCH_SEED,
    RECREATED,
    THREADS,
    LearnedModel,
    P,
    Pairing,
    PlayerFactory,
    pairing_jobs,
    training_jobs,
)
from counterplay.app.reproduction.sizes import POKI_RATE, rate
from counterplay.app.reproduction.table1 import winnings
from counterplay.core.base.plotting import COLOURS, STYLES, new_figure, save_figure
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.base.store import digest
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.match.play import play_match
from counterplay.core.match.result import MatchResult
from counterplay.core.parallel.jobs import Job
from counterplay.poker.adaptive.play import play_adaptive
from counterplay.poker.adaptive.player import Adaptive
from counterplay.poker.adaptive.portfolio import portfolio
from counterplay.poker.adaptive.response import ResponseLearner

ITERATIONS = 6_000_000  # per 1,000 games
EVERY = 1_000
MCCFR10 = Pairing("MCCFR10", "outcome", 10, "poki")
MODES = ("model learnt before", "model learnt while playing", "adaptive, from an equilibrium")
SAFE = "external"  # sampling of the equilibrium that the adaptive player starts from
PER_ITERATION = 40  # nodes visited by external sampling per node of outcome sampling, roughly


class Fig8Scale(NamedTuple):
    games: int
    measured: int


SCALES = {"quick": Fig8Scale(8_000, 10_000), "paper": Fig8Scale(20_000, 40_000)}
#: Meaning of the settings, for the report, in addition to harness/report.py.
MEANING = {
    "MCCFR10": "whose winnings are the mark: the equilibrium with 10 buckets",
    "iterations per 1,000 games": "of the response, between two blocks of play",
    "measured": "duplicate hands in which each frozen policy is measured",
}

# the rules

TARGET, TOLERANCE = 20e6, 5e6  # iterations: "about 20 million"


class FrozenPolicy(NamedTuple):
    """Games and iterations before the policy was frozen, and what it wins from Poki."""

    games: float
    iterations: float
    won: Interval


def claims(
    fixed: Sequence[FrozenPolicy], online: Sequence[FrozenPolicy], mccfr: Winnings
) -> list[Claim]:
    """`mccfr`: what MCCFR10 wins from Poki. Claims that depend on it come with a variant."""

    def judged(rows: Mapping[Any, Winnings]) -> list[Claim]:
        final = rows["MCCFR10"].final
        return [exploits(fixed, final), from_nothing(online, final)]

    first, last = judge.with_and_without_cutoff(judged, {"MCCFR10": mccfr})
    return [first, improves(fixed), last]


def exploits(fixed: Sequence[FrozenPolicy], mccfr: Interval) -> Claim:
    near = min(fixed, key=lambda one: abs(one.iterations - TARGET))
    margin, won = judge.difference(near.won, mccfr), near.won
    return Claim(
        "MCRNR10 has learnt to exploit Poki after about 20 million sampled iterations.",
        "the policy nearest to 20 million iterations wins more from Poki than MCCFR10 does "
        "(outcome sampling, with what training may still add), the 95% interval being above zero",
        f"{won} sb/h after {near.iterations / 1e6:.0f} M iterations, MCCFR10 {mccfr}: {margin}",
        judge.only_if(abs(near.iterations - TARGET) <= TOLERANCE, judge.above(margin, 0.0)),
        RuleVariant("the 95% interval of what it wins is above zero", str(won), won.low > 0),
    )


def improves(fixed: Sequence[FrozenPolicy]) -> Claim:
    first, last = _learnt(fixed)
    rise, whole = (
        judge.difference(last.won, first.won),
        judge.difference(fixed[-1].won, fixed[0].won),
    )
    old = "it wins more than uniform play, with which it starts"
    return Claim(
        "The longer it learns the more it wins.",
        "the last policy wins more than the first that had learnt anything, the 95% interval of "
        "the difference being above zero",
        f"{rise} sb/h from {first.iterations / 1e6:.0f} M to {last.iterations / 1e6:.0f} M",
        judge.only_if(last.iterations > first.iterations, judge.above(rise, 0.0)),
        RuleVariant(old, str(whole), whole.low > 0),
    )


def from_nothing(online: Sequence[FrozenPolicy], mccfr: Interval) -> Claim:
    first, last = _learnt(online)
    rise, ahead = judge.difference(last.won, first.won), judge.difference(last.won, mccfr)
    before = online[-1].won.value - online[0].won.value
    return Claim(
        "It also works from nothing, model and response learnt while playing (beyond the paper).",
        "the last policy wins more than MCCFR10 and than the first that had learnt anything, both "
        "95% intervals being above zero",
        f"{last.won} sb/h after {last.games:,.0f} games; {ahead} more than MCCFR10, {rise} more "
        f"than after {first.games:,.0f} games",
        judge.all_hold(
            [
                judge.above(ahead, 0.0),
                judge.only_if(last.games > first.games, judge.above(rise, 0.0)),
            ]
        ),
        RuleVariant(
            "the last policy wins, and more than uniform play",
            f"{last.won}; {before:+.3f}",
            last.won.low > 0 and before > 0,
        ),
    )


def _learnt(policies: Sequence[FrozenPolicy]) -> tuple[FrozenPolicy, FrozenPolicy]:
    """The first policy that had learnt anything, and the last."""
    some = [one for one in policies if one.iterations > 0] or list(policies)
    return some[0], some[-1]


# the games


def _play(
    model: LearnedModel | None, size: Fig8Scale, players: PlayerFactory
) -> list[tuple[float, ...]]:
    """A row per block: games, iterations, sb/h in the block, measured sb/h, its standard error."""
    game, poki = players.game(10), players.bot("poki")
    learner = ResponseLearner(game, threads=THREADS, p_max=P)
    if model is not None:
        learner.replace_model(model.strategy, np.full(game.n_infosets, P))
    rows: list[tuple[float, ...]] = []
    player = Adaptive(learner=learner, every=EVERY, iterations=ITERATIONS, relearn=model is None)
    for block in play_adaptive(
        poki, size.games, player=player, every=EVERY, progress=players.progress
    ):
        result = frozen_match(game, block.strategy, poki, size.measured)
        rows.append((block.hands, block.iterations, block.won, result.mean, result.standard_error))
    return rows


def _play_adaptive(
    safe: Strategy, size: Fig8Scale, players: PlayerFactory
) -> list[tuple[float, ...]]:
    """As `_play`, of an adaptive player without prior models; policies are those after a block."""
    game, poki = players.game(10), players.bot("poki")
    iterations = max(ITERATIONS // PER_ITERATION, 1)
    empty = portfolio(game, (), equilibrium=safe)
    player = Adaptive(portfolio=empty, every=EVERY, iterations=iterations)
    rows: list[tuple[float, ...]] = []
    for block in play_adaptive(
        poki, size.games, player=player, every=EVERY, progress=players.progress
    ):
        result = frozen_match(game, player.strategy, poki, size.measured)
        done = 2 * iterations * block.hands // EVERY
        rows.append((block.hands, done, block.won, result.mean, result.standard_error))
    return rows


def frozen_match(game: Game, strategy: Strategy, opponent: Any, hands: int) -> MatchResult:
    """What a frozen policy wins."""
    return play_match(game, strategy, opponent, hands, MATCH_SEED, luck_adjusted=False)


def _cached_play(mode: str, size: Fig8Scale, players: PlayerFactory) -> np.ndarray:
    """float64[blocks, 5]: the rows of `_play` or `_play_adaptive`."""
    recipe = {**size._asdict(), "mode": mode, "every": EVERY, "iterations": ITERATIONS}
    recipe |= {"threads": THREADS, "P": P, "seed": MATCH_SEED, "per iteration": PER_ITERATION}
    make: Callable[[], list[tuple[float, ...]]]
    if mode == MODES[2]:
        safe = players.equilibrium(10, SAFE).strategy
        recipe["equilibrium"] = digest(safe.probabilities)
        make = lambda: _play_adaptive(safe, size, players)  # noqa: E731
    else:
        before = mode == MODES[0]
        model = players.model("poki", 10, players.size.observed) if before else None
        recipe["model"] = model and digest(model.strategy.probabilities)
        make = lambda: _play(model, size, players)  # noqa: E731
    recipe["code"] = source_version(_play, _play_adaptive, frozen_match)
    return np.array(players.store.value("online", recipe, make))


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    size, folder = SCALES[scale], store.folder
    players = PlayerFactory(scale, store, progress)
    blocks = {}
    for k, mode in enumerate(MODES):
        players.progress = stage_progress(progress, k, len(MODES))
        blocks[mode] = _cached_play(mode, size, players)
    mccfr = MCCFR10.play(players)
    _picture(blocks, folder / "fig8.png")
    header = "mode games iterations won_in_block sb_per_hand standard_error"
    rows = [(mode, *row) for mode in MODES for row in blocks[mode].tolist()]
    mark = (mccfr.iterations, "", mccfr.result.mean, mccfr.result.standard_error)
    rows.append(("MCCFR10", "", *mark))
    _fixed, _online = (
        [
            FrozenPolicy(row[0], row[1], judge.around(row[3], judge.Z * row[4]))
            for row in blocks[mode].tolist()
        ]
        for mode in MODES[:2]
    )
    (_won,) = winnings([mccfr]).values()
    setting = {
        **size._asdict(),
        "iterations per 1,000 games": ITERATIONS,
        "Pconf": P,
        "threads": THREADS,
        "MCCFR10": f"outcome sampling, {mccfr.iterations:,} iterations",
    }
    notes = [RECREATED]
    return EXPERIMENT.outcome(scale, folder, [], setting, header, rows, notes=notes)


def _picture(blocks: dict[str, np.ndarray], path: Path) -> None:
    figure, axes = new_figure(1, 1, 7.2, 4.4)
    axis, crosses = axes[0, 0], {"marker": "x", "linestyle": "none"}
    for k, (mode, rows) in enumerate(blocks.items()):
        line = {"color": COLOURS[k], "linestyle": STYLES[k], "marker": "o", "capsize": 3}
        axis.errorbar(rows[:, 0], rows[:, 3], yerr=1.96 * rows[:, 4], label=mode, **line)
        axis.plot(rows[:, 0], rows[:, 2], color=COLOURS[k], alpha=0.5, **crosses)
    axis.plot([], [], color="0.5", label="won in the block of 1,000 games", **crosses)
    axis.axhline(0.0, color="0.4", linewidth=0.8)
    axis.set_xlabel("games played (6 million iterations for every 1,000)")
    axis.set_ylabel("won from Poki (re-created), sb/h")
    axis.legend(frameon=False, fontsize=8)
    title = "Learning while playing against Poki (frozen policies with 95% intervals)"
    save_figure(figure, path, title)


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    size = SCALES[scale]
    seconds = size.games * ITERATIONS / EVERY / rate("outcome", 10)
    seconds += (size.games // EVERY) * size.measured / POKI_RATE
    trained = training_jobs(scale, store, MCCFR10._replace(engine=SAFE))

    def job(mode: str) -> Job:
        def work(progress: ProgressCallback) -> None:
            _cached_play(mode, size, PlayerFactory(scale, store, progress))

        after = tuple(one.name for one in trained) if mode == MODES[2] else ()
        return Job(f"Figure 8: {mode}", work, seconds, THREADS, after)

    return [*(job(mode) for mode in MODES), *trained, *pairing_jobs(scale, store, MCCFR10)]


TITLE = "Figure 8: online play against Poki"
SECONDS = {"quick": 110, "paper": 420}  # on two cores
EXPERIMENT = Experiment("fig8", TITLE, run, SECONDS, _jobs, order=10, priority=4, meaning=MEANING)
