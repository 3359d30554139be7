"""How many hands tell two members of a portfolio apart: by plain importance sampling, by imaginary
observations, and by the estimate of the adaptive player.

python -m benchmarks.members --processes 16

The equilibrium of the portfolio plays matches against opponents of the field (`adaptive_field.py`),
whose types the portfolio does not know, and against Poki. Three estimates of what one arm, the
equilibrium or a member, wins more than another are made from the same hands:

| plain | the payoff times the ratio of the probabilities of our own actions with our cards |
| imaginary | all our holdings at once, and the folds we could have made (`OffPolicyEstimator`) |
| player | imaginary combined with the mean over what the opponent may be (`combined_gain`) |

The first two are means over hands, without bias but for a little: the difference d of two arms is
told, two standard errors from 0, after 4 σ² / d² hands. σ² is the sample's, and for the plain
estimate mostly too small, since large ratios are rare. The player tells it when its estimate is two
of its errors from 0, looked at after every 25 hands; with all matches that tell, in the median one.
`right`: the share of these tellings with the right sign; `within`: of estimates after 250, 500,
1,000 and 2,000 hands, all pairs, those within two errors of the truth. The truth comes from matches
of the arms; pairs whose difference is less than 0.1 sb/h are not told. Writes
benchmarks/members.csv, a row for each opponent with medians over pairs, and a row for all pairs.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.adaptive_field import BASE, STRENGTH, WITHOUT, portfolio_for
from benchmarks.measure import write_rows
from counterplay.core.forms.strategy import Strategy
from counterplay.core.match.play import play_match
from counterplay.poker.adaptive.bandit import ArmStatistics, OffPolicyEstimator, combined_gain
from counterplay.poker.adaptive.field import type_strategy
from counterplay.poker.adaptive.player import Adaptive
from counterplay.poker.adaptive.portfolio import Portfolio
from counterplay.poker.adaptive.tracker import OpponentTracker
from counterplay.poker.betting.betting import ACTIONS
from counterplay.poker.bots.bot import Ending, View
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.match.deals import session_deals
from counterplay.poker.match.referee import play_hands, start_bots
from counterplay.poker.models.predict import strategy_stack
from counterplay.poker.players import bot, find_strategy

OUT = Path(__file__).parent / "members.csv"
OPPONENTS = (
    "maniac", "folds-to-bets", "too-tight", "calling-station", "loose-passive", "slow-plays",
    "never-bluffs", "poki",
)  # fmt: skip
HANDS, EVERY, LOOKS = 2_000, 25, (250, 500, 1_000, 2_000)
ERRORS = 2.0
LEAST = 0.1  # sb/h
TRUTH_HANDS = {"poki": 40_000}
MOST_HANDS = 4_000_000  # of a truth, where both players are tables
FIRST_SEED = 700
HEADER = (
    "opponent", "pairs", "matches", "plain_hands", "imaginary_hands", "player_hands", "told",
    "times_plain", "times_imaginary", "right", "within",
)  # fmt: skip


class Match(NamedTuple):
    """What a match of the equilibrium says about p pairs of arms."""

    squares: np.ndarray  # float64[2, p]: of d by plain and imaginary estimates, mean over hands
    told: np.ndarray  # float64[p]: hands after which the player tells them apart, or infinity
    sign: np.ndarray  # float64[p]: which it says is better
    estimates: np.ndarray  # float64[2, looks, p]: the player's, and their errors


def arms_of(known: Portfolio) -> list[Strategy]:
    return [known.equilibrium, *(member.strategy for member in known.members)]


def opponent_of(name: str) -> Any:
    """A type of the field as a table, or Poki."""
    if name == "poki":
        return bot(name)
    return strategy_bot(type_strategy(find_strategy(BASE), name, STRENGTH), name)


class Watched(Adaptive):
    """The adaptive player with the equilibrium as the arm that plays, and with both estimates of
    every hand."""

    def start(self, seed: int) -> None:
        super().start(seed)
        assert self.portfolio is not None
        arms = arms_of(self.portfolio)
        self._mine = np.eye(len(self.tracker.names))[0]
        self._mixture = np.eye(len(arms))[0]
        self._policy = strategy_stack(self.game, arms).policy
        self._imagine = OffPolicyEstimator(self.game, arms)
        self.plain: list[np.ndarray] = []
        self.imaginary: list[np.ndarray] = []

    def new_hand(self, seat: int) -> None:
        super().new_hand(seat)
        self._arm, self._mix = 0, self._mine
        self._ratio = np.ones(self._policy.shape[2])

    def act(self, view: View) -> str:
        action = super().act(view)
        row = self._bots[0]._row(view)
        shares = self._policy[row, ACTIONS.index(action)]
        self._ratio = self._ratio * shares / shares[0]
        return action

    def end_hand(self, ending: Ending) -> None:
        self.plain.append(ending.won * self._ratio)
        self.imaginary.append(self._imagine.estimate(ending, self._mixture))
        super().end_hand(ending)

    def differences(self, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """float64[p] each: what the player believes, as `OpponentTracker.choose` of one arm and the
        equilibrium, and its error."""
        tracker = self.tracker
        assert isinstance(tracker, OpponentTracker)
        gains = tracker._gains[pairs[:, 0]] - tracker._gains[pairs[:, 1]]
        replies = np.zeros(len(pairs), dtype=bool)
        mean, error = tracker.posterior.mean_gains(gains, tracker._unexplained, replies)
        if not tracker.learnt_from:
            error[:] = np.inf
        seen = np.array(self.imaginary)
        seen = seen[:, pairs[:, 0]] - seen[:, pairs[:, 1]]
        squares = seen.var(axis=0) * len(seen)
        found = [
            combined_gain(ArmStatistics("", *(float(x) for x in one)))
            for one in zip(
                mean, error, [len(seen)] * len(pairs), seen.mean(axis=0), squares, strict=True
            )
        ]
        return np.array([one.gain for one in found]), np.array([one.error for one in found])


def pairs_of(n: int) -> np.ndarray:
    """int64[p, 2]: all pairs of n arms."""
    return np.array(list(combinations(range(n), 2)))


def play(work: tuple[str, int, int]) -> Match:
    """One match."""
    name, seed, hands = work
    known = portfolio_for(name, WITHOUT)
    me, foe = Watched(portfolio=known, seed=seed), opponent_of(name)
    pairs = pairs_of(1 + len(known.members))
    told, sign = np.full(len(pairs), np.inf), np.zeros(len(pairs))
    looks: list[tuple[np.ndarray, np.ndarray]] = []
    deals = session_deals(seed, 0, hands, hands)
    start_bots((me, foe), deals.start_seeds)

    def look(_: Any) -> None:
        n = len(me.plain)
        if n % EVERY == 0:
            mean, error = me.differences(pairs)
            new = np.isinf(told) & (np.abs(mean) > ERRORS * error)
            told[new], sign[new] = n, np.sign(mean[new])
            if n in LOOKS:
                looks.append((mean, error))

    play_hands((me, foe), deals, on_hand=look)
    both = np.array([me.plain, me.imaginary])
    squares = (both[:, :, pairs[:, 0]] - both[:, :, pairs[:, 1]]).var(axis=1)
    return Match(squares, told, sign, np.array(looks).swapaxes(0, 1))


def true_values(work: tuple[str, int]) -> float:
    """What an arm of the portfolio wins from an opponent."""
    name, arm = work
    known = portfolio_for(name, WITHOUT)
    hands = TRUTH_HANDS.get(name, MOST_HANDS)
    asked: dict[str, Any] = {"processes": 1, "luck_adjusted": name in TRUTH_HANDS}
    found = play_match(known.game, arms_of(known)[arm], opponent_of(name), hands, 3, **asked)
    return float((found if found.adjusted is None else found.adjusted).mean)


class Told(NamedTuple):
    """Of the pairs of one opponent that can be told apart, q of them."""

    hands: np.ndarray  # float64[3, q]: plain, imaginary, player
    told: np.ndarray  # bool[matches, q]
    right: np.ndarray  # bool[matches, q]
    within: np.ndarray  # bool[matches, looks, p]


def compared(values: np.ndarray, matches: list[Match]) -> Told:
    """What the matches against one opponent say; `values`: the truth for each arm."""
    pairs = pairs_of(len(values))
    truth = values[pairs[:, 0]] - values[pairs[:, 1]]
    clear = np.abs(truth) >= LEAST
    needed = ERRORS**2 * np.mean([one.squares for one in matches], axis=0) / truth**2
    told = np.array([one.told for one in matches])
    player = np.median(told, axis=0)
    right = np.array([one.sign for one in matches]) == np.sign(truth)
    estimates = np.array([one.estimates for one in matches])
    within = np.abs(estimates[:, 0] - truth) <= ERRORS * estimates[:, 1]
    hands = np.vstack([needed, player])[:, clear]
    return Told(hands, np.isfinite(told)[:, clear], right[:, clear], within)


def row_of(name: str, found: Iterable[Told], matches: int) -> tuple[Any, ...]:
    """A row of the table."""
    found = list(found)
    hands = np.hstack([one.hands for one in found])
    told = np.hstack([one.told for one in found])
    right = np.hstack([one.right for one in found])
    within = np.concatenate([one.within.ravel() for one in found])
    medians = [round(float(x)) for x in np.median(hands, axis=1)]
    times = [round(float(np.median(hands[k] / hands[2])), 1) for k in (0, 1)]
    shares = round(float(right[told].mean()), 3), round(float(within.mean()), 3)
    return (
        name, hands.shape[1], matches, *medians, round(float(told.mean()), 3), *times, *shares,
    )  # fmt: skip


def main() -> None:
    summary, _, _ = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.members", description=summary)
    parser.add_argument("--matches", type=int, default=20)
    parser.add_argument("--hands", type=int, default=HANDS)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--opponents", default=",".join(OPPONENTS))
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    names, every, rows = options.opponents.split(","), [], []
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        for name in names:
            arms = 1 + len(portfolio_for(name, WITHOUT).members)
            values = np.array(pool.map(true_values, [(name, k) for k in range(arms)], 1))
            seeds = range(FIRST_SEED, FIRST_SEED + options.matches)
            matches = pool.map(play, [(name, seed, options.hands) for seed in seeds], 1)
            every.append(compared(values, matches))
            rows.append(row_of(name, every[-1:], options.matches))
            print(*rows[-1], flush=True)
            write_rows(options.out, HEADER, [*rows, row_of("all", every, options.matches)])
    print(*row_of("all", every, options.matches))


if __name__ == "__main__":
    main()
