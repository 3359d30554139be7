"""Points of Figure 6, each kept: a response in both seats, what it wins, risks and still lacks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from counterplay.base.progress import Tell
from counterplay.base.store import digest
from counterplay.experiments.harness.sources import file_version
from counterplay.experiments.harness.store import Store
from counterplay.experiments.paper.models import EPSILON, FixedProfile
from counterplay.experiments.paper.players import staged
from counterplay.forms.game import Game
from counterplay.responses.respond import respond

SEED = 1
LEAST = 1e-9  # target: a model that nobody can exploit asks for none


class Options(NamedTuple):
    """How to respond: until each seat's restricted game has a gap of `target`, or `iterations`."""

    algorithm: str
    engine: str
    iterations: int
    target: float
    every: int | None  # iterations between two looks at the gap


class Point(NamedTuple):
    p: float
    gain: float
    risk: float
    gap: float  # both seats
    iterations: int  # of the seat that needed more
    seconds: float


def kept_curve(
    game: Game,
    model: FixedProfile,
    store: Store,
    ps: Sequence[float],
    options: Options,
    tell: Tell,
) -> list[Point]:
    """A response for each p."""
    found = []
    for k, p in enumerate(ps):
        about = f"{options.algorithm.upper()} against {model.label}, p = {p:g}"
        say = partial(staged(tell, k, len(ps)), 0.0, f"{game.name}: {about}")
        say()
        recipe = {
            "game": [game.name, game.fingerprint],
            "model": digest(model.strategy.probabilities),
            "p": p,
            "seed": SEED,
            "options": options._asdict(),
            "file": file_version(__file__),
        }
        make = partial(_answer, game, model, p, options, say)
        found.append(Point(*store.value("point", recipe, make)))
    return found


def _answer(game: Game, model: FixedProfile, p: float, options: Options, say: Any) -> list[float]:
    own: dict[str, Any] = {"epsilon": EPSILON} if options.engine == "mccfr" else {}
    if options.algorithm.startswith("mc"):
        own["seed"] = SEED
    one = respond(
        game,
        model.strategy,
        p=p,
        algorithm=options.algorithm,
        engine=options.engine,
        iterations=options.iterations,
        target=max(options.target, LEAST),
        measure_every=options.every,
        on_chunk=lambda progress: say(),
        **own,
    )
    gap = sum(run.exploitability for run in one.runs)
    return [p, one.exploitation, one.exploitability, gap, one.iterations, one.seconds]
