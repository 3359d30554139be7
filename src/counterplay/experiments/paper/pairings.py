"""Pairings of the tables: a player is trained, matched with a bot, and then needed no more. Each
result is kept by what was asked for; jobs make them side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, NamedTuple

from counterplay.arena.result import MatchResult
from counterplay.base.progress import Tell, untold
from counterplay.experiments.harness.jobs import Job
from counterplay.experiments.harness.store import Store
from counterplay.experiments.harness.training import TrainedStrategy
from counterplay.experiments.paper.players import (
    PARTNER,
    THREADS,
    PairingResult,
    PlayerFactory,
    ResponseSpec,
    as_match,
)
from counterplay.experiments.paper.sizes import MCTS_RATE, POKI_RATE, rate


class Pairing(NamedTuple):
    """A player and the bot he meets. `response`: he responds to a model; None: an equilibrium, or
    MCTS10."""

    player: str
    engine: str
    buckets: int
    opponent: str
    response: ResponseSpec | None = None

    def train(self, players: PlayerFactory) -> TrainedStrategy:
        if self.response is not None:
            return players.response(self.response)
        if self.engine == "mcts":
            return players.mcts()
        return players.equilibrium(self.buckets, self.engine)

    def iterations(self, players: PlayerFactory) -> int:
        if self.response is not None:
            return self.response.iterations
        return players.size.mcts if self.engine == "mcts" else players.size.of(*self[1:3])

    def recipe(self, players: PlayerFactory) -> dict[str, Any]:
        return {
            **self._asdict(),
            "iterations": self.iterations(players),
            "hands": [players.size.poki, players.size.sparbot],
            "response": _asked(players, self.response),
        }

    def play(self, players: PlayerFactory) -> PairingResult:
        """Trained, matched and measured once."""

        def make() -> dict[str, Any]:
            trained = self.train(players)
            model = None if self.response is None else players.model_of(self.response).strategy
            result = players.play(self.player, self.engine, trained, self.opponent, model)
            return {**result._asdict(), "result": asdict(result.result)}

        data = players.store.value("pairing", self.recipe(players), make)
        result, gained = as_match(data["result"]), tuple(data["gained"])
        return PairingResult(**{**data, "result": result, "gained": gained})


def response_match(
    players: PlayerFactory, spec: ResponseSpec, opponent: str, hands: int
) -> MatchResult:
    """What a response wins from a bot; nothing else of it is kept."""

    def make() -> dict[str, Any]:
        player = players.response(spec).strategy
        return asdict(players.match(spec.name, player, opponent, hands))

    recipe = {"response": _asked(players, spec), "opponent": opponent, "hands": hands}
    return as_match(players.store.value("won", recipe, make))


def _asked(players: PlayerFactory, spec: ResponseSpec | None) -> dict[str, Any] | None:
    """All that a response depends on, its name left out."""
    if spec is None:
        return None
    asked = {**spec._asdict(), "of": players.size.observed}
    del asked["name"]
    partner = spec.model.get("partner", PARTNER)
    if partner != PARTNER:
        asked["partner's iterations"] = players.size.of(partner, 10)
    return asked


# jobs


def training_seconds(engine: str, buckets: int, iterations: int) -> float:
    """About how long training takes."""
    return iterations / (MCTS_RATE if engine == "mcts" else rate(engine, buckets))


def pairing_jobs(scale: str, store: Store, pairing: Pairing) -> list[Job]:
    """Training, seat by seat, and the matches."""
    trained = training_jobs(scale, store, pairing)
    after = tuple(job.name for job in trained)
    players = PlayerFactory(scale, store, untold)
    hands = players.size.poki if pairing.opponent == "poki" else 0
    name = f"{pairing.player} ({pairing.engine}) against {pairing.opponent}"

    def work(tell: Tell) -> None:
        pairing.play(PlayerFactory(scale, store, tell))

    return [*trained, Job(name, work, 15.0 + hands / POKI_RATE, THREADS, after)]


def response_job(scale: str, store: Store, spec: ResponseSpec, opponent: str, hands: int) -> Job:
    """Training and match in one job: such responses are short."""
    seconds = 2 * training_seconds(spec.engine, spec.buckets, spec.iterations)

    def work(tell: Tell) -> None:
        response_match(PlayerFactory(scale, store, tell), spec, opponent, hands)

    partner = spec.model.get("partner", PARTNER)
    after = () if partner == PARTNER else (training_name(f"MCCFR10 ({partner})"),)
    return Job(spec.name, work, seconds + hands / POKI_RATE, THREADS, after)


def training_name(who: str) -> str:
    return f"training {who}"


def training_jobs(scale: str, store: Store, pairing: Pairing) -> list[Job]:
    """An equilibrium is one job, a response one for each seat. Nothing is trained for a pairing
    whose result is there."""
    spec = pairing.response

    def one(who: str, train: Callable[[PlayerFactory], Any]) -> Job:
        def work(tell: Tell) -> None:
            players = PlayerFactory(scale, store, tell)
            if not store.has("pairing", pairing.recipe(players)):
                train(players)

        iterations = pairing.iterations(PlayerFactory(scale, store, untold))
        seconds = training_seconds(pairing.engine, pairing.buckets, iterations)
        return Job(training_name(who), work, seconds, THREADS)

    if spec is None:
        base = "MCTS10" if pairing.engine == "mcts" else f"MCCFR{pairing.buckets}"
        return [one(f"{base} ({pairing.engine})", pairing.train)]
    who = f"{spec.name} ({spec.engine})"
    seats = (lambda players: players.seat(spec, 0), lambda players: players.seat(spec, 1))
    return [one(f"{who}, seat {k + 1}", seat) for k, seat in enumerate(seats)]
