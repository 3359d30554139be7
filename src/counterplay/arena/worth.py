"""What a response to a model would win: a short response, played against another view of the same
player."""

from __future__ import annotations

from counterplay.arena.match import play_match
from counterplay.arena.result import MatchResult
from counterplay.opponents.models.model import OpponentModel
from counterplay.responses.respond import respond

ITERATIONS = 20_000  # for each seat: enough to see what there is to win
HANDS = 200_000
TRUST = 0.75  # as `respond` does


def worth(
    model: OpponentModel,
    against: OpponentModel | None = None,
    *,
    iterations: int = ITERATIONS,
    hands: int = HANDS,
    seed: int = 0,
) -> MatchResult:
    """What a quick response to `model` wins per hand from `against`, a model of the same player
    learnt from other hands; without it from the model itself, which flatters. More iterations
    win more."""
    response = respond(
        model.game,
        model.strategy,
        p=TRUST,
        algorithm="mcdbr",
        engine="mccfr-external",
        iterations=iterations,
        seed=seed,
    )
    other = (against or model).strategy
    return play_match(model.game, response.strategy, other, hands, seed, luck_adjusted=False)
