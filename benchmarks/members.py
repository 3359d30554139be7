"""How many hands tell two members of a portfolio apart: by plain importance sampling, by imaginary
observations, and by what the adaptive player uses.

python -m benchmarks.members --processes 16

The equilibrium of the portfolio plays matches against opponents of the field (`adaptive_field.py`),
whose types the portfolio does not know, and against Poki. From the same hands it is estimated what
one arm, the equilibrium or a member, wins more than another:

| plain | the payoff times the ratio of the probabilities of our own actions with our cards |
| imaginary | all our holdings at once, and the folds we could have made, without values |
| player | all actions by their values against the learnt model, ratios cut off at 10 |
| believed | the last one combined with the mean over what the opponent may be (`combined_gain`) |

The first three are means over hands: a difference d of two arms is told, two standard errors from
0, after 4 σ² / d² hands, so that hands are in proportion to variances. Two of them are unbiased but
for a little; σ² is the sample's, that of the plain estimate mostly too small, since large ratios
are rare. The third has the bias of the values in what is cut off. The last one tells when it is two
of its errors from 0, looked at after every 25 hands; in the median match. `told`: the share of
pairs and matches that it tells at all; `right`: of these with the right sign; `times`: the hands of
another estimate in units of its own, where it tells. `within`: of the estimates after `LOOKS`
hands, all pairs, the share within two errors of the truth, which comes from matches of the arms.
Pairs that differ by less than 0.1 sb/h are not told. Writes benchmarks/members.csv, a row for each
opponent with medians over pairs, and a row for all pairs.
"""

from __future__ import annotations

import argparse
import multiprocessing
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
from counterplay.poker.adaptive.portfolio_members import Portfolio
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
HANDS, EVERY, LOOKS = 4_000, 25, (250, 500, 1_000, 2_000, 4_000)
ERRORS = 2.0
LEAST = 0.1  # sb/h
TRUTH_HANDS = {"poki": 40_000}
MOST_HANDS = 4_000_000  # of a truth, where both players are tables
FIRST_SEED = 700
HEADER = (
    "opponent", "pairs", "matches", "plain_hands", "imaginary_hands", "player_hands",
    "believed_hands", "times_plain", "times_imaginary", "told", "right", "player_within",
    "believed_within",
)  # fmt: skip


class Match(NamedTuple):
    """What a match of the equilibrium says about p pairs of arms."""

    squares: np.ndarray  # float64[3, p]: variance of one hand, by plain, imaginary, player
    told: np.ndarray  # float64[p]: hands after which what is believed tells, or infinity
    sign: np.ndarray  # float64[p]: which is said to be better
    looks: np.ndarray  # float64[looks, 4, p]: `player`, its error, `believed`, its error


def arms_of(known: Portfolio) -> list[Strategy]:
    return [known.equilibrium, *(member.strategy for member in known.members)]


def opponent_of(name: str) -> Any:
    """A type of the field as a table, or Poki."""
    if name == "poki":
        return bot(name)
    return strategy_bot(type_strategy(find_strategy(BASE), name, STRENGTH), name)


class Watched(Adaptive):
    """The adaptive player with the equilibrium as the arm that plays; keeps the estimates of every
    hand."""

    def start(self, seed: int) -> None:
        super().start(seed)
        assert self.portfolio is not None
        arms = arms_of(self.portfolio)
        self._mine, self._mixture = np.eye(len(self.tracker.names))[0], np.eye(len(arms))[0]
        self._policy = strategy_stack(self.game, arms).policy
        self._imagine = OffPolicyEstimator(self.game, arms)
        self.hands: list[np.ndarray] = []  # float64[4, arms]: plain, imaginary, player, kept

    def new_hand(self, seat: int) -> None:
        super().new_hand(seat)
        self._arm, self._mix = 0, self._mine
        self._ratio = np.ones(self._policy.shape[2])

    def act(self, view: View) -> str:
        action = super().act(view)
        shares = self._policy[self._bots[0]._row(view), ACTIONS.index(action)]
        self._ratio = self._ratio * shares / shares[0]
        return action

    def end_hand(self, ending: Ending) -> None:
        tracker = self.tracker
        assert isinstance(tracker, OpponentTracker)
        imaginary = self._imagine.estimate(ending, self._mixture)
        player = tracker._estimator.estimate(ending, self._mine)[: len(imaginary)]
        plain, kept = ending.won * self._ratio, tracker._estimator.kept[: len(imaginary)]
        self.hands.append(np.array([plain, imaginary, player, kept]))
        super().end_hand(ending)

    def differences(self, pairs: np.ndarray) -> np.ndarray:
        """float64[4, p]: `player`, its error, `believed` as by `OpponentTracker.choose`, and its
        error."""
        tracker = self.tracker
        assert isinstance(tracker, OpponentTracker)
        gains = tracker._gains[pairs[:, 0]] - tracker._gains[pairs[:, 1]]
        replies = np.zeros(len(pairs), dtype=bool)
        mean, error = tracker.posterior.mean_gains(gains, tracker._unexplained, replies)
        if not tracker.learnt_from:
            error[:] = np.inf
        seen = np.array(self.hands)[:, 2:]
        kept = seen[:, 1].mean(axis=0)[pairs].min(axis=1)
        seen = seen[:, 0, pairs[:, 0]] - seen[:, 0, pairs[:, 1]]
        numbers = mean, error, np.full(len(pairs), float(len(seen))), seen.mean(axis=0)
        squares = seen.var(axis=0) * len(seen)
        arms = [ArmStatistics("", *one) for one in np.array([*numbers, squares, kept]).T.tolist()]
        both = [combined_gain(arm) for arm in arms]
        return np.array([
            [arm.mean for arm in arms], [arm.variance**0.5 for arm in arms],
            [one.gain for one in both], [one.error for one in both],
        ])  # fmt: skip


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
    looks: list[np.ndarray] = []
    deals = session_deals(seed, 0, hands, hands)
    start_bots((me, foe), deals.start_seeds)

    def look(_: Any) -> None:
        n = len(me.hands)
        if n % EVERY == 0:
            found = me.differences(pairs)
            new = np.isinf(told) & (np.abs(found[2]) > ERRORS * found[3])
            told[new], sign[new] = n, np.sign(found[2, new])
            if n in LOOKS:
                looks.append(found)

    play_hands((me, foe), deals, on_hand=look)
    every = np.array(me.hands)
    squares = (every[:, :3, pairs[:, 0]] - every[:, :3, pairs[:, 1]]).var(axis=0)
    return Match(squares, told, sign, np.array(looks))


def true_values(work: tuple[str, int]) -> float:
    """What an arm of the portfolio wins from an opponent."""
    name, arm = work
    known = portfolio_for(name, WITHOUT)
    hands = TRUTH_HANDS.get(name, MOST_HANDS)
    asked: dict[str, Any] = {"processes": 1, "luck_adjusted": name in TRUTH_HANDS}
    found = play_match(known.game, arms_of(known)[arm], opponent_of(name), hands, 3, **asked)
    return float((found if found.adjusted is None else found.adjusted).mean)


class Told(NamedTuple):
    """Of the pairs of one opponent, q of which can be told apart."""

    hands: np.ndarray  # float64[4, q]: plain, imaginary, player, believed
    told: np.ndarray  # bool[matches, q]
    right: np.ndarray  # bool[matches, q]
    within: np.ndarray  # bool[2, matches, looks, p]: player, believed


def compared(values: np.ndarray, matches: list[Match]) -> Told:
    """What the matches against one opponent say; `values`: the truth for each arm."""
    pairs = pairs_of(len(values))
    truth = values[pairs[:, 0]] - values[pairs[:, 1]]
    clear = np.abs(truth) >= LEAST
    needed = ERRORS**2 * np.mean([one.squares for one in matches], axis=0)[:, clear]
    told = np.array([one.told for one in matches])[:, clear]
    right = np.array([one.sign for one in matches])[:, clear] == np.sign(truth[clear])
    looks = np.array([one.looks for one in matches])
    within = [np.abs(looks[:, :, k] - truth) <= ERRORS * looks[:, :, k + 1] for k in (0, 2)]
    hands = np.vstack([needed / truth[clear] ** 2, np.median(told, axis=0)])
    return Told(hands, np.isfinite(told), right, np.array(within))


def row_of(name: str, found: list[Told], matches: int) -> tuple[Any, ...]:
    """A row of the table: medians over pairs, and shares."""
    hands = np.hstack([one.hands for one in found])
    told, right = (np.hstack([getattr(one, x) for one in found]) for x in ("told", "right"))
    within = np.hstack([one.within.reshape(2, -1) for one in found]).mean(axis=1)
    medians = [round(float(x)) if np.isfinite(x) else "" for x in np.median(hands, axis=1)]
    tells = np.isfinite(hands[3])
    times = [round(float(np.median((hands[k] / hands[3])[tells])), 1) for k in (0, 1)]
    shares = [round(float(x), 3) for x in (told.mean(), right[told].mean(), *within)]
    return name, hands.shape[1], matches, *medians, *times, *shares


def main() -> None:
    summary, _, _ = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.members", description=summary)
    parser.add_argument("--matches", type=int, default=16)
    parser.add_argument("--hands", type=int, default=HANDS)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--opponents", default=",".join(OPPONENTS))
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    names, every, rows = options.opponents.split(","), list[Told](), list[tuple[Any, ...]]()
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
