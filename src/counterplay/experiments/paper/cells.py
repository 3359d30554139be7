"""Cells of the tables, each kept by what was asked for: a player is trained, matched, and then
needed no more; and the jobs that make them side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, NamedTuple

from counterplay.base.progress import Tell, untold
from counterplay.experiments.harness.store import Store
from counterplay.experiments.paper.players import PARTNER, THREADS, Answer, Cell, Company
from counterplay.experiments.paper.sizes import MCTS_RATE, POKI_RATE, rate
from counterplay.match.result import MatchResult
from counterplay.parallel.jobs import Job


class Wanted(NamedTuple):
    """A cell: a player against a bot. `answer`: he responds to a model; None: an equilibrium, or
    MCTS10."""

    player: str
    engine: str
    buckets: int
    opponent: str
    answer: Answer | None = None

    def train(self, company: Company) -> Any:
        if self.answer is not None:
            return company.response(self.answer)
        if self.engine == "mcts":
            return company.mcts()
        return company.equilibrium(self.buckets, self.engine)

    def iterations(self, company: Company) -> int:
        if self.answer is not None:
            return self.answer.iterations
        if self.engine == "mcts":
            return company.size.mcts
        return company.size.of(self.engine, self.buckets)


def cell(company: Company, wanted: Wanted) -> Cell:
    """Trained, matched and measured once."""

    def make() -> dict[str, Any]:
        halves = wanted.train(company)
        model = None if wanted.answer is None else company.learnt(wanted.answer).strategy
        found = company.play(wanted.player, wanted.engine, halves, wanted.opponent, model)
        return {**found._asdict(), "result": asdict(found.result)}

    found = company.store.value("cell", recipe_of(company, wanted), make)
    return Cell(**{**found, "result": _match(found["result"]), "gained": tuple(found["gained"])})


def recipe_of(company: Company, wanted: Wanted) -> dict[str, Any]:
    return {
        **wanted._asdict(),
        "iterations": wanted.iterations(company),
        "hands": [company.size.poki, company.size.sparbot],
        "answer": _asked(company, wanted.answer),
    }


def won(company: Company, answer: Answer, opponent: str, hands: int) -> MatchResult:
    """What a response wins from a bot; nothing else of it is kept."""

    def make() -> dict[str, Any]:
        player = company.response(answer).whole
        return asdict(company.match(answer.name, player, opponent, hands))

    recipe = {"answer": _asked(company, answer), "opponent": opponent, "hands": hands}
    return _match(company.store.value("won", recipe, make))


def _match(found: dict[str, Any]) -> MatchResult:
    return MatchResult(**{**found, "by_seat": tuple(found["by_seat"])})


def _asked(company: Company, answer: Answer | None) -> dict[str, Any] | None:
    """All that a response depends on, its name left out."""
    if answer is None:
        return None
    asked = {**answer._asdict(), "of": company.size.observed}
    del asked["name"]
    partner = answer.model.get("partner", PARTNER)
    if partner != PARTNER:
        asked["partner's iterations"] = company.size.of(partner, 10)
    return asked


# jobs


def seconds_of(engine: str, buckets: int, iterations: int) -> float:
    """About how long training takes."""
    return iterations / (MCTS_RATE if engine == "mcts" else rate(engine, buckets))


def cell_jobs(scale: str, store: Store, wanted: Wanted) -> list[Job]:
    """Training, seat by seat, and the matches."""
    company = Company(scale, store, untold)
    trained = training_jobs(scale, store, wanted)
    after = tuple(job.name for job in trained)
    hands = company.size.poki if wanted.opponent == "poki" else 0
    name = f"{wanted.player} ({wanted.engine}) against {wanted.opponent}"
    play = Job(
        name,
        lambda tell: cell(Company(scale, store, tell), wanted),
        15.0 + hands / POKI_RATE,
        THREADS,
        after,
    )
    return [*trained, play]


def won_jobs(scale: str, store: Store, answer: Answer, opponent: str, hands: int) -> list[Job]:
    """One job: such responses are short."""
    seconds = 2 * seconds_of(answer.engine, answer.buckets, answer.iterations)
    work: Callable[[Tell], Any] = lambda tell: won(  # noqa: E731
        Company(scale, store, tell), answer, opponent, hands
    )
    after: tuple[str, ...] = ()
    if (partner := answer.model.get("partner", PARTNER)) != PARTNER:
        after = (training_name(f"MCCFR10 ({partner})"),)
    return [Job(answer.name, work, seconds + hands / POKI_RATE, THREADS, after)]


def training_name(who: str) -> str:
    return f"training {who}"


def training_jobs(scale: str, store: Store, wanted: Wanted) -> list[Job]:
    """An equilibrium is one job, a response one for each seat. Nothing is trained for a cell that
    is there."""
    answer = wanted.answer

    def one(who: str, train: Callable[[Company], Any]) -> Job:
        def work(tell: Tell) -> None:
            company = Company(scale, store, tell)
            if not store.has("cell", recipe_of(company, wanted)):
                train(company)

        many = wanted.iterations(Company(scale, store, untold))
        seconds = seconds_of(wanted.engine, wanted.buckets, many)
        return Job(training_name(who), work, seconds, THREADS)

    if answer is None:
        base = "MCTS10" if wanted.engine == "mcts" else f"MCCFR{wanted.buckets}"
        return [one(f"{base} ({wanted.engine})", wanted.train)]
    who = f"{answer.name} ({answer.engine})"
    seats = (lambda company: company.seat(answer, 0), lambda company: company.seat(answer, 1))
    return [one(f"{who}, seat {k + 1}", seat) for k, seat in enumerate(seats)]
