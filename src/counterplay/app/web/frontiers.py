"""Frontiers for the exploit page: exact in small games, in hold'em from a sample of flops, or by
play; the certified strategies of the package against an opponent (`CertifiedPlayers`); and the
points of the real frontier that come with the package (`CommittedFrontier`).

By play: the exploitation of a response is what it wins from the model in a match; its
exploitability is what a counter-strategy wins from it that was trained against it for the same
time. A stronger counter-strategy may exist, so this exploitability is a lower bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from counterplay.app.web.strategies import BOT, HOLDEM, open_game
from counterplay.core.base.errors import Interrupted
from counterplay.core.base.progress import ProgressCallback, part
from counterplay.core.parallel.background import BackgroundJob
from counterplay.core.responses.compute import DEFAULT_TARGET
from counterplay.core.responses.frontier import Frontier, FrontierPoint, frontier
from counterplay.core.responses.respond import respond
from counterplay.core.responses.result import Response as RobustResponse
from counterplay.core.solvers.limits import payoff_range
from counterplay.poker.bots.shipped import ShippedStrategy, strategies

PS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
HOLDEM_PS = (0.0, 0.5, 0.8, 1.0)
SMALL_SECONDS = 3.0  # of solving for each p
HANDS = 400_000  # of a match
PROGRAM_HANDS = 20_000  # with a program
EXACT, BY_FLOPS, BY_PLAY = "exact", "by flops", "by play"
CERTIFIED, COMMITTED = "certified", "committed"
MB = 1_000  # in a small bet
SEATS = 2  # whose sum the library gives, and whose mean the page shows


def flop_cost() -> dict[str, float]:
    """What a frontier measured on flops takes and gives: minutes for each flop on processors, and
    half an interval in mb/g from a number of flops, which falls with its root."""
    from counterplay.poker.bots.known import ANNOUNCED_FLOPS, BESIDE
    from counterplay.poker.vector.evaluation import FLOPS
    from counterplay.poker.vector.flop_sums import cpu_hours

    queries = len(HOLDEM_PS) * 2 * SEATS + SEATS  # of each response, and of the known player
    minutes = 60 * cpu_hours(queries) / FLOPS
    return {"minutes": minutes, "half": BESIDE, "flops": ANNOUNCED_FLOPS}


@dataclass(frozen=True)
class ModelFrontier:
    """The frontier of a model, both seats summed, and how it was measured."""

    model: Any
    method: str
    frontier: Frontier
    intervals: list[tuple[float, float]]  # half of the 95% intervals of `Frontier.intervals`


def model_frontier(job: BackgroundJob, model: Any, seconds: float, flops: int) -> ModelFrontier:
    """Computes the frontier of a model. Hold'em: `seconds` of solving in all; `flops` to sample, 0
    to measure by play."""
    if model.game.evaluator.immediate:
        target = DEFAULT_TARGET * payoff_range(model.game)
        return _solved(job, model, PS, seconds=SMALL_SECONDS, target=target)
    if not flops:
        return _by_play(job, model, seconds)
    share = seconds / len(HOLDEM_PS)
    return _solved(job, model, HOLDEM_PS, seconds=share, measure={"flops": flops})


def _solved(job: BackgroundJob, model: Any, ps: Sequence[float], **options: Any) -> ModelFrontier:
    def measured(curve: Frontier) -> ModelFrontier:
        method = BY_FLOPS if curve.estimated else EXACT
        return ModelFrontier(model, method, curve, curve.intervals())

    options |= {"progress": job.progress, "on_chunk": lambda _: job.check()}
    try:
        return measured(frontier(model.game, model, ps, **options))
    except Interrupted as stop:
        if isinstance(stop.result, Frontier):
            raise Interrupted(measured(stop.result)) from None
        raise


def _by_play(job: BackgroundJob, model: Any, seconds: float) -> ModelFrontier:
    """Trains a response for each p and a counter-strategy against it, and plays the matches."""
    points: list[FrontierPoint] = []
    intervals: list[tuple[float, float]] = []
    n, share = len(HOLDEM_PS), seconds / (2 * len(HOLDEM_PS))

    def measured() -> ModelFrontier:
        curve = Frontier(model.game, None, points[0].response.algorithm, tuple(points))
        return ModelFrontier(model, BY_PLAY, curve, intervals)

    try:
        for k, p in enumerate(HOLDEM_PS):
            job.progress(k / n, f"p = {p:g}, a response")
            response = _trained(job, model, p, share)
            job.progress((k + 0.4) / n, f"p = {p:g}, a counter-strategy")
            counter = _trained(job, response.strategy, 1.0, share)
            job.progress((k + 0.8) / n, f"p = {p:g}, matches")
            wins, wins_half = _match(job, response.strategy, model)
            risks, risks_half = _match(job, counter.strategy, response.strategy)
            points.append(FrontierPoint(p, wins, risks, response.seconds, response))
            intervals.append((wins_half, risks_half))
    except KeyboardInterrupt:
        raise Interrupted(measured() if points else None) from None
    return measured()


def _trained(job: BackgroundJob, model: Any, p: float, seconds: float) -> RobustResponse:
    return respond(model.game, model, p=p, seconds=seconds, on_chunk=lambda _: job.check())


def _match(job: BackgroundJob, one: Any, two: Any) -> tuple[float, float]:
    """What `one` wins in both seats together, and half the 95% interval."""
    from counterplay.core.match.play import play_match

    progress: ProgressCallback = lambda *_: job.check()  # noqa: E731
    result = play_match(one.game, one, two, HANDS, luck_adjusted=False, progress=progress)
    return SEATS * result.mean, SEATS * (result.interval[1] - result.mean)


@dataclass(frozen=True)
class CertifiedPlayers:
    """What each certified strategy wins from an opponent in a match, beside its risk: both per
    hand, the mean of the seats. `won`: with half the 95% interval, by rising risk."""

    opponent: str
    hands: int
    won: list[tuple[ShippedStrategy, float, float]]

    def facts(self) -> dict[str, Any]:
        """As those of a frontier."""
        points = [
            {
                "name": one.name,
                "wins": mean,
                "wins_within": half,
                "risks": one.exploitability / SEATS,
                "risks_within": 0.0,
                "exploitability": one.exploitability,
                "strategy": BOT + one.name,
            }
            for one, mean, half in self.won
        ]
        facts = {"how": CERTIFIED, "opponent": self.opponent, "hands": self.hands}
        return {**facts, "unit": "sb/h", "millibets": True, "points": points}


def certified_players(job: BackgroundJob, opponent: Any, title: str) -> CertifiedPlayers:
    """Plays the matches; `opponent`: a strategy, or the name of a program."""
    from counterplay.poker.bots.registry import BOTS
    from counterplay.poker.bots.table import strategy_bot

    program = isinstance(opponent, str)
    hands = PROGRAM_HANDS if program else HANDS
    won: list[tuple[ShippedStrategy, float, float]] = []
    listed = sorted(strategies(), key=lambda one: one.exploitability)
    try:
        for k, one in enumerate(listed):

            def report(share: float, what: str, k: int = k) -> None:
                job.progress((k + 0.5 * share) / len(listed), what)

            BOTS[one.name].prepare(report)
            other = opponent if program else strategy_bot(opponent, "opponent")
            match = part(job.progress, (k + 0.5) / len(listed), (k + 1) / len(listed))
            won.append((one, *_played(one.name, other, hands, match)))
    except KeyboardInterrupt:
        raise Interrupted(CertifiedPlayers(title, hands, won) if won else None) from None
    return CertifiedPlayers(title, hands, won)


def _played(one: Any, other: Any, hands: int, progress: ProgressCallback) -> tuple[float, float]:
    """What `one` wins per hand, the mean of the seats, without the luck that can be taken out."""
    from counterplay.core.match.play import play_match

    told = lambda share, what: progress(share, f"{one}: {what}")  # noqa: E731
    match = play_match(open_game(HOLDEM), one, other, hands, luck_adjusted=True, progress=told)
    result = match.adjusted or match
    return float(result.mean), float(result.interval[1] - result.mean)


def committed_models() -> tuple[str, ...]:
    """The bots of which the package has points of the real frontier."""
    from counterplay.app.reproduction.fig6_holdem import BOTS

    return BOTS


@dataclass(frozen=True)
class CommittedFrontier:
    """The points of the real frontier of a bot's model that come with the package: trained on a GPU
    against an adversary who sees its cards; beside them those whose adversary sees buckets."""

    name: str

    def facts(self) -> dict[str, Any]:
        """As those of a frontier; a risk without an interval is certified."""
        from counterplay.app.reproduction.fig6_holdem import (
            ABSTRACT,
            MOST_RISK,
            REAL,
            committed_points,
            curve,
        )

        found = committed_points()
        buckets = [[one.risk, one.won / MB] for one in curve(found, ABSTRACT, self.name)]
        return {
            "how": COMMITTED,
            "opponent": f"a model of {self.name}",
            "unit": "sb/h",
            "millibets": True,
            "most": MOST_RISK,
            "buckets": buckets,
            "points": [_committed_facts(one) for one in curve(found, REAL, self.name)],
        }


def _committed_facts(point: Any) -> dict[str, Any]:
    """One point; the shipped strategy that it is, if it is one."""
    certified = point.error == 0
    shipped = (one for one in strategies() if certified and abs(one.mb_per_game - point.risk) < 0.1)
    name = next((one.name for one in shipped), None)
    return {
        "p": float(point.p),
        "wins": point.won / MB,
        "wins_within": point.won_error / MB,
        "risks": point.risk / MB,
        "risks_within": point.error / MB,
        "exploitability": SEATS * point.risk / MB,
        "certified": certified,
        "shipped": name,
        "strategy": None if name is None else BOT + name,
    }
