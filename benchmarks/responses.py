"""Cost of robust responses: an iteration of mcrnr relative to one of mccfr, and one of rnr relative
to one of cfr, on the same game."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.measure import compare_rates
from counterplay import Strategy, load
from counterplay.core.responses.solver import ResponseSolver
from counterplay.core.solvers.algorithms import new_solver

GAMES = ("kuhn", "leduc", "bluff(1,1,6)", "goofspiel(4)", "ocp(100)")
MOST = 1.3  # target: iterations of the plain solver that one of a response may cost
HEADER = (
    "response against plain solver",
    "iterations /s",
    "plain /s",
    "cost ratio (range)",
    "asked for",
    "reached",
)


def rows() -> Iterator[tuple[str, ...]]:
    for response, plain in (("mcrnr", "mccfr"), ("mcdbr", "mccfr"), ("rnr", "cfr"), ("dbr", "cfr")):
        for name in GAMES:
            game = load(name)
            model = Strategy.random(game, 1)
            ours = ResponseSolver(game, model, 0, 0.75, response, plain).engine
            base = new_solver(game, plain, 0, {})
            mine, theirs = compare_rates(ours.step, base.step)
            costs = sorted(b / a for a, b in zip(mine.values, theirs.values, strict=True))
            ratio = costs[len(costs) // 2]
            target, reached = (
                (f"<= {MOST}", "yes" if ratio <= MOST else "NO")
                if response in ("mcrnr", "rnr")
                else ("", "")
            )
            yield (
                f"{response} / {plain}, {name}",
                f"{mine.median:,.0f}",
                f"{theirs.median:,.0f}",
                f"{ratio:.2f} ({costs[0]:.2f}-{costs[-1]:.2f})",
                target,
                reached,
            )
