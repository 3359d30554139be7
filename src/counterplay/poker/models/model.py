"""Models of an opponent learnt from hands he played: `tree` (C4.5, one tree per phase) and
`frequency` (counts).

Either becomes a `Strategy` on the abstract game, with the number of observations of each
information set beside it, from which data-biased responses take their confidence.

A player's cards are seen at showdowns only, so his bucket is missing exactly when somebody folded:
not at random. `unseen` says what to do about it. "inferred" (the default) works out what the cards
may have been (`infer.py`). "fractional" is what J48 does: such decisions go down all branches of a
tree, and for counts they are spread over the buckets as they are dealt; the model then thinks that
strong hands fold as often as weak ones, and a response to it loses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from counterplay.core.base import display
from counterplay.core.base.display import Columns, Tabular
from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.poker.betting.betting import ACTIONS, STREETS, BettingTree
from counterplay.poker.betting.rows import nodes_and_buckets, row_of
from counterplay.poker.holdem.game import HoldemRules
from counterplay.poker.models.c45.learn import Attribute, Tree, learn
from counterplay.poker.models.infer import infer_counts
from counterplay.poker.models.observe import (
    FEATURES,
    UNSEEN,
    Observations,
    buckets_of,
    node_features,
)

KINDS = ("tree", "frequency")
UNSEEN_WAYS = ("inferred", "fractional")
EM_ROUNDS, TREE_ROUNDS = 12, 3  # with smoothed counts as the model, then with trees
LEAST_SEEN = 0.5  # observations under which counts say nothing
PRIOR = 2.0  # observations that the pooled frequencies are worth
LEAST_WEIGHT = 1e-4  # observations below which a row is left out of a tree
CALL = ACTIONS.index("call")


@dataclass(frozen=True)
class OpponentModel(Tabular):
    """What was learnt of `player`."""

    kind: str
    player: str
    game: Game = field(repr=False)
    hands: int
    decisions: int
    counts: np.ndarray = field(
        repr=False
    )  # float64[slots]: observations of each action, those with unseen cards spread
    trees: tuple[Tree, ...] = field(repr=False)  # one per phase; none for frequency
    strategy: Strategy = field(repr=False)  # in both seats

    @property
    def observed(self) -> np.ndarray:
        """float64[information sets]: n_I, for `cp.confidence`."""
        n: np.ndarray = np.add.reduceat(self.counts, self.game.form.first[:-1])
        return n

    def columns(self) -> Columns:
        """A row for each action of each information set, with how often it was observed."""
        return {**self.strategy.columns(), "observed": self.counts.tolist()}

    def _figure(self) -> Any:
        return self.strategy._figure()

    def _repr_html_(self) -> str:
        note = f"{self.kind} model from {self.hands:,} hands, {self.decisions:,} decisions"
        return display.heading(self.player, note) + self.strategy._repr_html_()

    def text(self) -> str:
        """Readable trees."""
        if not self.trees:
            return f"counts of {self.decisions:,} decisions"
        return "\n\n".join(
            f"{name}\n{tree.text()}" for name, tree in zip(STREETS, self.trees, strict=False)
        )


def learn_model(
    seen: Observations,
    game: Game,
    player: str,
    kind: str = "tree",
    *,
    laplace: bool = True,
    unseen: str = "inferred",
) -> OpponentModel:
    """Learn how `player` plays. `laplace`: leaves of a tree never say never, and rare leaves say
    less."""
    if kind not in KINDS:
        raise BadParameter(f"a model is one of {', '.join(KINDS)}, not {kind!r}")
    if unseen not in UNSEEN_WAYS:
        raise BadParameter(f"unseen cards are one of {', '.join(UNSEEN_WAYS)}, not {unseen!r}")
    if not len(seen.node):
        raise BadParameter(f"no decision of {player!r} to learn from")
    buckets, tree = buckets_of(seen, game), rules_of(game).tree
    counts = _counts(seen, buckets, game)
    trees: tuple[Tree, ...] = ()
    if kind == "tree" and unseen == "fractional":
        x = _matrix(tree, seen.node, buckets)
        trees = _grow(tree, x, seen.node, seen.action, None, laplace)
    elif unseen == "inferred":
        for _ in range(EM_ROUNDS):
            counts, _ = infer_counts(seen, game, slots_of(game), _smooth(counts, game))
        for _ in range(TREE_ROUNDS if kind == "tree" else 0):
            trees = _trees_of_counts(counts, game, laplace)
            counts, _ = infer_counts(
                seen, game, slots_of(game), model_strategy(trees, counts, game).probabilities
            )
    hands = len(np.unique(seen.hand))
    return OpponentModel(
        kind,
        player,
        game,
        hands,
        len(seen.node),
        counts,
        trees,
        model_strategy(trees, counts, game),
    )


def model_strategy(trees: tuple[Tree, ...], counts: np.ndarray, game: Game) -> Strategy:
    """What the trees, or without any the counts, say the player does; he never does what is
    illegal."""
    return _strategy(_tree_shares(trees, game) if trees else count_shares(counts, game), game)


def _grow(
    public: BettingTree,
    x: np.ndarray,
    node: np.ndarray,
    action: np.ndarray,
    weights: np.ndarray | None,
    laplace: bool,
) -> tuple[Tree, ...]:
    """One tree per phase from rows of features and what was done."""
    attributes = [Attribute(name, "numeric") for name in FEATURES]
    trees = []
    for phase in range(public.rules.n_streets):
        rows = public.nodes.street[node] == phase
        if not rows.any():  # never got there: a call, as good a guess as any
            trees.append(learn(attributes, np.zeros((1, len(FEATURES))), np.array([CALL]), ACTIONS))
            continue
        share = None if weights is None else weights[rows]
        trees.append(
            learn(
                attributes, x[rows], action[rows].astype(np.int64), ACTIONS, share, laplace=laplace
            )
        )
    return tuple(trees)


def _trees_of_counts(counts: np.ndarray, game: Game, laplace: bool) -> tuple[Tree, ...]:
    """Trees from expected counts: a row for each information set and action, weighted."""
    slot_of = slots_of(game)
    infoset, action = np.nonzero(slot_of >= 0)
    weight = counts[slot_of[infoset, action]]
    kept = weight > LEAST_WEIGHT
    node, bucket = _rows(game)
    tree, node = rules_of(game).tree, node[infoset[kept]]
    x = _matrix(tree, node, bucket[infoset[kept]])
    return _grow(tree, x, node, action[kept], weight[kept], laplace)


def _smooth(counts: np.ndarray, game: Game) -> np.ndarray:
    """Frequencies drawn a little to those of all decisions of the same phase, legal actions and
    bucket."""
    slot_of, (node, bucket) = slots_of(game), _rows(game)
    table = np.where(slot_of >= 0, counts[np.maximum(slot_of, 0)], 0.0)
    group = kind_of(rules_of(game).tree, node) * max(rules_of(game).abstraction.counts) + bucket
    pooled = np.zeros((int(group.max()) + 1, len(ACTIONS)))
    np.add.at(pooled, group, table)
    pooled = np.where(slot_of >= 0, pooled[group] + 1.0, 0.0)
    table += PRIOR * pooled / pooled.sum(axis=1, keepdims=True)
    policy = np.zeros(game.n_slots)
    policy[slot_of[slot_of >= 0]] = (table / table.sum(axis=1, keepdims=True))[slot_of >= 0]
    return policy


def _matrix(tree: BettingTree, node: np.ndarray, buckets: np.ndarray) -> np.ndarray:
    """float64[n, 5] in the order of FEATURES; NaN for a bucket that was not seen."""
    seen = np.where(buckets == UNSEEN, np.nan, buckets)
    return np.column_stack([node_features(tree)[node], seen])


def rules_of(game: Game) -> HoldemRules:
    rules: HoldemRules = game.rules
    return rules


def _rows(game: Game) -> tuple[np.ndarray, np.ndarray]:
    """Node and bucket of every information set."""
    return nodes_and_buckets(rules_of(game).tree, rules_of(game).abstraction.counts)


def _tree_shares(trees: tuple[Tree, ...], game: Game) -> np.ndarray:
    """float64[information sets, 3]."""
    return predicted(trees, rules_of(game).tree, *_rows(game))


def predicted(
    trees: tuple[Tree, ...], public: BettingTree, node: np.ndarray, bucket: np.ndarray
) -> np.ndarray:
    """float64[n, 3]: what the tree of each phase says at these nodes."""
    shares = np.empty((len(node), len(ACTIONS)))
    for phase, tree in enumerate(trees):
        rows = public.nodes.street[node] == phase
        shares[rows] = tree.predict(_matrix(public, node[rows], bucket[rows]))
    return shares


def slots_of(game: Game) -> np.ndarray:
    """int64[information sets, 3]: slot of each action, -1 where it is illegal."""
    return rules_of(game).slots()


def _counts(seen: Observations, buckets: np.ndarray, game: Game) -> np.ndarray:
    """float64[slots]: how often each action was seen; with unseen cards, spread over the buckets
    as they are dealt."""
    form, slot_of = game.form, slots_of(game)
    counts = np.zeros(game.n_slots)
    known = buckets != UNSEEN
    rows = row_of(form.first_row, seen.node[known], buckets[known])
    np.add.at(counts, slot_of[rows, seen.action[known]], 1.0)
    dealt = rules_of(game).bucket_shares()
    unseen, times = np.unique(
        np.column_stack([seen.node[~known], seen.action[~known]]), axis=0, return_counts=True
    )
    for (node, action), many in zip(unseen, times, strict=True):
        shares = dealt[form.nodes.street[node]]
        rows = row_of(form.first_row, node, np.arange(len(shares)))
        counts[slot_of[rows, action]] += many * shares
    return counts


def count_shares(counts: np.ndarray, game: Game) -> np.ndarray:
    """Relative frequencies; a call where nothing was seen."""
    slot_of = slots_of(game)
    shares = np.where(slot_of >= 0, counts[np.maximum(slot_of, 0)], 0.0)
    shares[shares.sum(axis=1) < LEAST_SEEN] = np.eye(len(ACTIONS))[CALL]
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def _strategy(shares: np.ndarray, game: Game) -> Strategy:
    """Illegal actions taken out; a call where nothing else is left."""
    slot_of = slots_of(game)
    shares = np.where(slot_of >= 0, shares, 0.0)
    shares[shares.sum(axis=1) <= 0, CALL] = 1.0
    weights = np.zeros(game.n_slots)
    weights[slot_of[slot_of >= 0]] = shares[slot_of >= 0]
    return Strategy.from_weights(game, weights)


def kind_of(tree: BettingTree, node: np.ndarray) -> Any:
    """Phase and legal actions as one number."""
    allowed = tree.legal[node]
    return tree.nodes.street[node].astype(np.int64) * 4 + allowed[:, 0] * 2 + allowed[:, 2]
