"""Opponent models learnt from hand histories: `tree` (C4.5, one tree per street) and `frequency`
(counts), and their JSON files.

Either becomes a `Strategy` of the abstract game, with the number of observations of each
information set, from which data-biased responses take their confidence. Files hold the trees or the
counts; the strategy is computed again when they are read.

A player's cards are revealed at showdowns only, so the bucket is missing exactly when a player
folded: not at random. `unseen` selects the treatment. "inferred" (the default) infers the
distribution of the cards (`observe.py`). "fractional" is that of J48: such decisions go down all
branches of a tree, and counts are spread over the buckets by their probability; the model then
assumes that strong hands fold as often as weak ones, and a response to it loses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base import display, files
from counterplay.core.base.display import Columns, Tabular
from counterplay.core.base.errors import BadFile, BadParameter
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import recorded_game
from counterplay.core.forms.strategy import Strategy
from counterplay.poker.betting.betting import (
    ACTIONS,
    STREETS,
    BettingTree,
    nodes_and_buckets,
    row_of,
)
from counterplay.poker.models.c45.learn import learn
from counterplay.poker.models.c45.tree import Attribute, Tree, from_json, to_json
from counterplay.poker.models.observe import (
    FEATURES,
    UNSEEN,
    Observations,
    buckets_of,
    infer_counts,
    node_features,
)

KINDS = ("tree", "frequency")
UNSEEN_WAYS = ("inferred", "fractional")
EM_ROUNDS, TREE_ROUNDS = 12, 3  # with smoothed counts as the model, then with trees
MIN_OBSERVATIONS = 0.5  # for a frequency; a call below
PRIOR = 2.0  # weight of the pooled frequencies, in observations
MIN_WEIGHT = 1e-4  # observations of a training row of a tree
CALL = ACTIONS.index("call")
FORMAT = 1  # of files
FIELDS = {"counterplay", "format", "kind", "player", "game", "fingerprint", "hands", "decisions"}
FIELDS |= {"counts", "trees"}


@dataclass(frozen=True)
class OpponentModel(Tabular):
    """A model of `player`."""

    kind: str
    player: str
    game: Game = field(repr=False)
    hands: int
    decisions: int
    counts: np.ndarray = field(repr=False)  # float64[slots]: (expected) observations of each action
    trees: tuple[Tree, ...] = field(repr=False)  # one per street; none for frequency
    strategy: Strategy = field(repr=False)  # for both seats

    @property
    def observed(self) -> np.ndarray:
        """float64[information sets]: n_I, for `cp.confidence`."""
        n: np.ndarray = np.add.reduceat(self.counts, self.game.form.first[:-1])
        return n

    def columns(self) -> Columns:
        """A row for each action of each information set, with its number of observations."""
        return {**self.strategy.columns(), "observed": self.counts.tolist()}

    def _figure(self) -> Any:
        return self.strategy._figure()

    def _repr_html_(self) -> str:
        note = f"{self.kind} model from {self.hands:,} hands, {self.decisions:,} decisions"
        return display.heading(self.player, note) + self.strategy._repr_html_()

    def text(self) -> str:
        """The trees as text."""
        if not self.trees:
            return f"counts of {self.decisions:,} decisions"
        return "\n\n".join(
            f"{name}\n{tree.text()}" for name, tree in zip(STREETS, self.trees, strict=False)
        )


def learn_model(
    observations: Observations,
    game: Game,
    player: str,
    kind: str = "tree",
    *,
    laplace: bool = True,
    unseen: str = "inferred",
) -> OpponentModel:
    """Learns a model of `player`. `laplace`: Laplace smoothing at the leaves of a tree."""
    if kind not in KINDS:
        raise BadParameter(f"a model is one of {', '.join(KINDS)}, not {kind!r}")
    if unseen not in UNSEEN_WAYS:
        raise BadParameter(f"unseen cards are one of {', '.join(UNSEEN_WAYS)}, not {unseen!r}")
    if not len(observations.node):
        raise BadParameter(f"no decision of {player!r} to learn from")
    buckets, tree = buckets_of(observations, game), game.rules.tree
    counts = _direct_counts(observations, buckets, game)
    trees: tuple[Tree, ...] = ()
    if kind == "tree" and unseen == "fractional":
        node, action = observations.node, observations.action
        trees = _grow(tree, _matrix(tree, node, buckets), node, action, None, laplace)
    elif unseen == "inferred":
        for _ in range(EM_ROUNDS):
            counts, _ = infer_counts(observations, game, _smooth(counts, game))
        for _ in range(TREE_ROUNDS if kind == "tree" else 0):
            trees = _trees_of_counts(counts, game, laplace)
            policy = model_strategy(trees, counts, game).probabilities
            counts, _ = infer_counts(observations, game, policy)
    sizes = len(np.unique(observations.hand)), len(observations.node)
    strategy = model_strategy(trees, counts, game)
    return OpponentModel(kind, player, game, *sizes, counts, trees, strategy)


def model_strategy(trees: tuple[Tree, ...], counts: np.ndarray, game: Game) -> Strategy:
    """The strategy of the trees, or of the counts where there are none; legal actions only."""
    shares = count_shares(counts, game)
    if trees:
        shares = tree_shares(trees, game.rules.tree, *_rows(game))
    shares = np.where(game.rules.slots() >= 0, shares, 0.0)
    shares[shares.sum(axis=1) <= 0, CALL] = 1.0  # no legal action left: a call
    return Strategy.from_weights(game, by_slot(shares, game))


def _grow(
    public: BettingTree,
    x: np.ndarray,
    node: np.ndarray,
    action: np.ndarray,
    weights: np.ndarray | None,
    laplace: bool,
) -> tuple[Tree, ...]:
    """One tree per street from rows of features and the actions taken."""
    attributes = [Attribute(name, "numeric") for name in FEATURES]
    trees = []
    for street in range(public.rules.n_streets):
        rows = public.nodes.street[node] == street
        if not rows.any():  # no observation: always call
            trees.append(learn(attributes, np.zeros((1, len(FEATURES))), np.array([CALL]), ACTIONS))
            continue
        weight, classes = None if weights is None else weights[rows], action[rows].astype(np.int64)
        trees.append(learn(attributes, x[rows], classes, ACTIONS, weight, laplace=laplace))
    return tuple(trees)


def _trees_of_counts(counts: np.ndarray, game: Game, laplace: bool) -> tuple[Tree, ...]:
    """Trees from expected counts: a row for each information set and action, weighted."""
    slot_of = game.rules.slots()
    infoset, action = np.nonzero(slot_of >= 0)
    weight = counts[slot_of[infoset, action]]
    used = weight > MIN_WEIGHT
    node, bucket = _rows(game)
    tree, node = game.rules.tree, node[infoset[used]]
    x = _matrix(tree, node, bucket[infoset[used]])
    return _grow(tree, x, node, action[used], weight[used], laplace)


def _smooth(counts: np.ndarray, game: Game) -> np.ndarray:
    """Frequencies shrunk towards those of all decisions of the same kind and bucket."""
    slot_of, (node, bucket) = game.rules.slots(), _rows(game)
    table = by_action(counts, game)
    group = decision_kind(game.rules.tree, node) * max(game.rules.abstraction.counts) + bucket
    pooled = np.zeros((int(group.max()) + 1, len(ACTIONS)))
    np.add.at(pooled, group, table)
    pooled = np.where(slot_of >= 0, pooled[group] + 1.0, 0.0)
    table += PRIOR * pooled / pooled.sum(axis=1, keepdims=True)
    return by_slot(table / table.sum(axis=1, keepdims=True), game)


def _matrix(tree: BettingTree, node: np.ndarray, buckets: np.ndarray) -> np.ndarray:
    """float64[n, 5] in the order of FEATURES; NaN for a hidden bucket."""
    bucket = np.where(buckets == UNSEEN, np.nan, buckets)
    return np.column_stack([node_features(tree)[node], bucket])


def _rows(game: Game) -> tuple[np.ndarray, np.ndarray]:
    """Node and bucket of every information set."""
    return nodes_and_buckets(game.rules.tree, game.rules.abstraction.counts)


def tree_shares(
    trees: tuple[Tree, ...], public: BettingTree, node: np.ndarray, bucket: np.ndarray
) -> np.ndarray:
    """float64[n, 3]: the probabilities of each street's tree at these nodes."""
    shares = np.empty((len(node), len(ACTIONS)))
    for street, tree in enumerate(trees):
        rows = public.nodes.street[node] == street
        shares[rows] = tree.predict(_matrix(public, node[rows], bucket[rows]))
    return shares


def by_action(values: np.ndarray, game: Game) -> np.ndarray:
    """float64[information sets, 3] from float64[slots]; 0 where an action is illegal."""
    slots = game.rules.slots()
    return np.where(slots >= 0, values[np.maximum(slots, 0)], 0.0)


def by_slot(table: np.ndarray, game: Game) -> np.ndarray:
    """float64[slots] from float64[information sets, 3]."""
    slots, values = game.rules.slots(), np.zeros(game.n_slots)
    values[slots[slots >= 0]] = table[slots >= 0]
    return values


def _direct_counts(observations: Observations, buckets: np.ndarray, game: Game) -> np.ndarray:
    """float64[slots]: numbers of observations; those with hidden cards are spread over the buckets
    by their probability."""
    form, slot_of = game.form, game.rules.slots()
    counts = np.zeros(game.n_slots)
    node, action, visible = observations.node, observations.action, buckets != UNSEEN
    rows = row_of(form.first_row, node[visible], buckets[visible])
    np.add.at(counts, slot_of[rows, action[visible]], 1.0)
    dealt = game.rules.bucket_shares()
    hidden = np.column_stack([node[~visible], action[~visible]])
    for (n, a), times in zip(*np.unique(hidden, axis=0, return_counts=True), strict=True):
        shares = dealt[form.nodes.street[n]]
        rows = row_of(form.first_row, n, np.arange(len(shares)))
        counts[slot_of[rows, a]] += times * shares
    return counts


def count_shares(counts: np.ndarray, game: Game) -> np.ndarray:
    """float64[information sets, 3]: relative frequencies; a call without observations."""
    shares = by_action(counts, game)
    shares[shares.sum(axis=1) < MIN_OBSERVATIONS] = np.eye(len(ACTIONS))[CALL]
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def decision_kind(tree: BettingTree, node: np.ndarray) -> Any:
    """int64[n]: street and legal actions as one number."""
    allowed = tree.legal[node]
    return tree.nodes.street[node].astype(np.int64) * 4 + allowed[:, 0] * 2 + allowed[:, 2]


def save_model(model: OpponentModel, path: str | Path) -> None:
    """Writes a model as JSON with a checksum."""
    observed = np.flatnonzero(model.counts)
    content = {
        "counterplay": "model",
        "format": FORMAT,
        "kind": model.kind,
        "player": model.player,
        "game": model.game.name,
        "fingerprint": model.game.fingerprint,
        "hands": model.hands,
        "decisions": model.decisions,
        "counts": [[int(slot), float(model.counts[slot])] for slot in observed],
        "trees": [to_json(tree) for tree in model.trees],
    }
    files.write_json(Path(path), content)


def load_model(path: str | Path, game: Game | None = None) -> OpponentModel:
    """Reads what `save_model` wrote; raises `BadFile` for anything else."""
    path = Path(path)
    content, checked = files.read_checked_json(path)
    if content.get("counterplay") != "model":
        raise BadFile(f"{path}: not a model of an opponent")
    if type(content.get("format")) is not int or content["format"] != FORMAT:
        raise BadFile(f"{path}: format {content.get('format')!r}, and this version reads {FORMAT}")
    if set(content) != FIELDS:  # includes a damaged name of the checksum
        strange = sorted(FIELDS ^ set(content))[0]
        raise BadFile(f"{path}: damaged (the field {strange!r} is missing or unknown)")
    try:
        game = game or recorded_game(content["game"], path)
        if not game.can("hands") or content["fingerprint"] != game.fingerprint:
            raise BadFile(f"{path}: a model for {content['game']}, not for {game.name}")
        counts = _read_counts(content["counts"], game)
        trees = tuple(from_json(tree) for tree in content["trees"])
        named = {(tree.classes, *(column.name for column in tree.attributes)) for tree in trees}
        if not named <= {(ACTIONS, *FEATURES)}:
            raise BadFile("damaged (a tree with other features or actions)")
        if content["kind"] not in KINDS or len(trees) != (
            len(STREETS) if content["kind"] == "tree" else 0
        ):
            raise BadFile(f"{path}: damaged (kind {content['kind']!r} with {len(trees)} trees)")
        strategy = model_strategy(trees, counts, game)
        sizes = content["hands"], content["decisions"]
        if type(content["player"]) is not str or any(
            type(size) is not int or size < 0 for size in sizes
        ):
            raise BadFile(
                f"{path}: damaged (player {content['player']!r}, hands and decisions {sizes})"
            )
        kind, player = content["kind"], content["player"]
        model = OpponentModel(kind, player, game, *sizes, counts, trees, strategy)
    except BadFile as error:
        raise error if str(path) in str(error) else BadFile(f"{path}: {error}") from None
    except (LookupError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise BadFile(f"{path}: damaged ({type(error).__name__}: {error})") from None
    if not checked:
        files.warn_unchecked(path)
    return model


def _read_counts(pairs: Any, game: Game) -> np.ndarray:
    counts = np.zeros(game.n_slots)
    if not isinstance(pairs, list):
        raise BadFile("damaged (no list of counts)")
    for slot, count in pairs:
        typed = type(slot) is int and 0 <= slot < game.n_slots and type(count) in (int, float)
        if not typed or not 0.0 < count < 1e15 or counts[slot]:
            raise BadFile(f"damaged (count {count!r} at slot {slot!r})")
        counts[slot] = float(count)
    return counts
