"""Frontiers as a page needs them: exact in small games; in hold'em by boards, or by play.

By play: what a response wins is what it wins from the model in a match; what it risks is what a
counter-player wins from it who was trained against it for as long as it was trained itself. Nobody
proves that there is no better one, so the risk is a lower bound, and is called that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from counterplay.core.base.errors import Interrupted
from counterplay.core.parallel.jobs import BackgroundJob

PS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
HOLDEM_PS = (0.0, 0.5, 0.8, 1.0)
SMALL_SECONDS = 3.0  # of solving for each p
HANDS = 400_000  # of a match
EXACT, BY_BOARDS, BY_PLAY = "exact", "by boards", "by play"


@dataclass(frozen=True)
class CurvePoint:
    """A response: what it wins and risks, both seats summed, with half their 95% intervals."""

    p: float
    wins: float
    risks: float
    wins_within: float
    risks_within: float
    strategy: Any


@dataclass(frozen=True)
class Curve:
    """What the page draws."""

    model: Any
    how: str
    points: tuple[CurvePoint, ...]

    def line(self, risk: float) -> float:
        """What mixing the first and the last response wins at this risk."""
        first, last = self.points[0], self.points[-1]
        wide = last.risks - first.risks
        share = 1.0 if wide <= 0 else min(max((risk - first.risks) / wide, 0.0), 1.0)
        return (1.0 - share) * first.wins + share * last.wins


def curve_of(job: BackgroundJob, model: Any, seconds: float, flops: int) -> Curve:
    """The frontier of a model. Hold'em: `seconds` of solving in all, `flops` 0 for play."""
    try:
        if model.game.evaluator.immediate:
            return _exactly(job, model)
        return _by_boards(job, model, seconds, flops) if flops else _by_play(job, model, seconds)
    except Interrupted as stop:
        if isinstance(stop.result, Curve) or stop.result is None:
            raise
        raise Interrupted(_taken(model, stop.result)) from None


def _taken(model: Any, found: Any) -> Curve:
    """A frontier of `cp.frontier`."""
    points = tuple(
        CurvePoint(row[0], row[1], row[2], within[0], within[1], point.response.strategy)
        for row, within, point in zip(found.rows(), found.intervals(), found.points, strict=True)
    )
    return Curve(model, BY_BOARDS if found.estimated else EXACT, points)


def _exactly(job: BackgroundJob, model: Any) -> Curve:
    from counterplay.core.responses.compute import default_target
    from counterplay.core.responses.frontier import frontier

    found = frontier(
        model.game,
        model,
        PS,
        progress=job.progress,
        on_chunk=lambda _: job.check(),
        seconds=SMALL_SECONDS,
        target=default_target(model.game),
    )
    return _taken(model, found)


def _by_boards(job: BackgroundJob, model: Any, seconds: float, flops: int) -> Curve:
    from counterplay.core.responses.frontier import frontier

    found = frontier(
        model.game,
        model,
        HOLDEM_PS,
        progress=job.progress,
        on_chunk=lambda _: job.check(),
        seconds=seconds / len(HOLDEM_PS),
        measure={"flops": flops},
    )
    return _taken(model, found)


def _by_play(
    job: BackgroundJob, model: Any, seconds: float, ps: Sequence[float] = HOLDEM_PS
) -> Curve:
    """Train a response for each p, and somebody against it."""
    points: list[CurvePoint] = []
    share = seconds / (2 * len(ps))
    try:
        for k, p in enumerate(ps):
            low = k / len(ps)
            job.progress(low, f"p = {p:g}, a response")
            mine = _trained(job, model, p, share)
            job.progress(low + 0.4 / len(ps), f"p = {p:g}, somebody against it")
            foe = _trained(job, mine, 1.0, share)
            job.progress(low + 0.8 / len(ps), f"p = {p:g}, matches")
            wins, risks = _match(mine, model), _match(foe, mine)
            points.append(CurvePoint(p, wins[0], risks[0], wins[1], risks[1], mine))
    except KeyboardInterrupt:
        done = Curve(model, BY_PLAY, tuple(points)) if points else None
        raise Interrupted(done) from None
    return Curve(model, BY_PLAY, tuple(points))


def _trained(job: BackgroundJob, model: Any, p: float, seconds: float) -> Any:
    from counterplay.core.responses.respond import respond

    return respond(model.game, model, p=p, seconds=seconds, on_chunk=lambda _: job.check()).strategy


def _match(one: Any, two: Any) -> tuple[float, float]:
    """What `one` wins in both seats together, and half its 95% interval."""
    from counterplay.core.match.play import play_match

    found = play_match(one.game, one, two, hands=HANDS, luck_adjusted=False)
    return 2.0 * found.mean, found.interval[1] * 2.0 - 2.0 * found.mean
