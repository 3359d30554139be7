"""CFR-BR: a learner in a card abstraction against an adversary in the unabstracted game.

Johanson, Bard, Burch & Bowling (AAAI 2012). The learner plays CFR over the rows of its abstraction;
the adversary distinguishes holdings. The average of the learner converges to the least exploitable
strategy that the abstraction can express. The game is cut at a street. Above the cut, in the
*trunk*, the adversary plays CFR too, with regrets for single holdings; from the cut on it
best-responds to the learner's current strategy. An iteration samples one board at the cut and
visits every board below it. Each seat of the learner is a run of its own, on the same boards.
Deviations: the adversary moves first in the trunk too. Its regrets include the sampled board before
the learner's values are computed, or a learner would face uniform play on every flop that it sees
for the first time; and on the flop they are shrunk to those of buckets (`adversary.py`).

With models the adversary is that of a robust response. Restricted Nash (Johanson, Zinkevich &
Bowling 2007): with probability p, decided before the hand, it plays the model instead. Both parts
are evaluated in one pass: the adversary starts with reach 1 - p, the model with reach p.
Data-biased (Johanson & Bowling 2009): at each of the model's information sets it follows the model
with probability Pconf (`adversary.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import comb
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter, TooLarge
from counterplay.core.base.memory import available_bytes, fits
from counterplay.core.forms.game import Game
from counterplay.core.forms.restricted import RestrictedPlayer
from counterplay.core.kernels.device import Device
from counterplay.core.kernels.simd import LANES
from counterplay.core.solvers.cfr_br import SEATS, CfrBrSettings, run_seats
from counterplay.poker.holdem.table import code_counts, form_table
from counterplay.poker.vector.adversary import BiasedSeat, TrunkSeat, new_prior, prior_rate
from counterplay.poker.vector.cfr_br_cuda import DeviceCfrBr
from counterplay.poker.vector.chance import Chance, DealtBoard, HoldemChance
from counterplay.poker.vector.learner_tables import (
    BucketRows,
    HoldingRows,
    LearnerTables,
    RowMap,
    average_policy,
    new_tables,
    slot_values,
    table_blocks,
    table_bytes,
)
from counterplay.poker.vector.public_tree import Street, streets_of
from counterplay.poker.vector.suit_permutations import check_suits
from counterplay.poker.vector.traversal import (
    BestSeat,
    BoardLevel,
    FixedSeat,
    LearnerSeat,
    RestrictedSeat,
    Seat,
    Step,
    Traversal,
)

STEP = Step()
DTYPE = np.float32  # of a traversal and the trunk; the learner's tables are in double precision
NEW_DEVICE: Callable[[], Any] = Device
TRUNK_STREETS = 2  # at most: below, single holdings are too many for tables


class VectorCfrBr:
    """One learner in `seats`. `cut`: the street from which the adversary best-responds;
    `models[j]`: the model of player j, whom it replaces with probability p. Data-biased, if p is
    None: the probabilities of the models are Pconf(I) · σ(I, a)."""

    def __init__(
        self,
        chance: Chance,
        streets: tuple[Street, ...],
        row_map: RowMap,
        *,
        cut: int,
        dtype: Any = np.float64,
        seats: tuple[int, ...] = (0, 1),
        models: Mapping[int, FixedSeat] | None = None,
        p: float | None = 0.0,
    ) -> None:
        self.chance, self.streets, self.cut, self._seats = chance, streets, cut, seats
        self._models, self._p = models or {}, p
        trunk_rows, trunk = HoldingRows(chance, cut), streets[:cut]
        self.tables: LearnerTables = new_tables(streets, row_map, np.float64)
        self.trunk: LearnerTables = new_tables(trunk, trunk_rows, dtype, average=False)
        self._learners = {
            i: LearnerSeat(chance, streets, i, row_map.copy(), self.tables, dtype) for i in seats
        }
        self._prior = new_prior(trunk, row_map)
        others = [1 - i for i in seats]
        self._adversaries = {
            j: TrunkSeat(
                chance, trunk, j, trunk_rows, self.trunk, dtype, row_map.copy(), self._prior
            )
            for j in others
        }
        self._best = {j: BestSeat(chance, streets, j, dtype) for j in others}
        self._faced = {j: self._restricted(self._adversaries[j], trunk, dtype) for j in others}
        self._faced_best = {j: self._restricted(self._best[j], streets, dtype) for j in others}
        self._traversals = {i: Traversal(chance, streets, dtype) for i in seats}

    def iterate(self, rng: np.random.Generator, step: Step = STEP, threads: int = 1) -> None:
        """Updates the seats on a sampled board."""
        board, boards = self.chance.root(), []
        for k in range(1, self.cut + 1):
            board = self.chance.sample(k, board, rng)
            boards.append(board)
        run_seats(threads, lambda i: self._iterate_seat(i, boards, step), self._seats)

    def _iterate_seat(self, i: int, boards: list[DealtBoard], step: Step) -> None:
        traversal = self._traversals[i]
        path = [traversal.begin(self._learners[i], self._faced_best[1 - i])]
        for level, dealt in zip(traversal.levels[1:], boards, strict=False):
            level.deal(dealt)
            path.append(level)
        self._update_seat(i, path, step)

    def arrays(self) -> dict[str, np.ndarray]:
        """Returns all tables, not copies."""
        named = {"regret": self.tables.regret, "strategy_sum": self.tables.strategy_sum}
        named["trunk"] = self.trunk.regret
        arrays = {
            f"{name}{k}": table for name, tables in named.items() for k, table in enumerate(tables)
        }
        return arrays | {f"prior{k}": prior for k, prior in self._prior.items()}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Restores what `arrays` returned."""
        for name, array in self.arrays().items():
            array[:] = saved[name]

    def blocks(self, table: str) -> list[np.ndarray]:
        """Returns the learner's table of this name by street: [groups, rows, nodes * LANES]."""
        return [blocks[0] for blocks in getattr(self.tables, table)]

    def average(self) -> tuple[np.ndarray, ...]:
        """Returns the average strategy, as a `FixedSeat` plays it."""
        pairs = zip(self.streets, self.tables.strategy_sum, strict=True)
        return tuple(average_policy(street, sums) for street, sums in pairs)

    def _update_seat(self, i: int, path: list[BoardLevel], step: Step) -> None:
        """Updates the learner in seat i, and its adversary in the trunk."""
        learner, adversary = self._learners[i], self._adversaries[1 - i]
        traversal, faced = self._traversals[i], self._faced[1 - i]
        free = faced.parts[0][0]  # what the adversary plays where it is not the model
        *trunk, cut = path
        for level in trunk:
            learner.set_board(level)
            learner.add_reach(level, 1.0)
            traversal.pass_down(level, learner)
        for level in path:
            for values in level.value:
                values[:] = 0.0
        self._best[1 - i].clear()
        self._respond(cut, i, 1.0)
        for level in reversed(trunk):
            free.set_board(level)
            action_value = adversary.action_value[level.k]
            traversal.evaluate(
                level, free, learner, scale=self._scale(level.k), action_value=action_value
            )
            adversary.update(level, step)
        for level in trunk:  # by the regrets that now include this board
            faced.set_board(level)
            traversal.pass_down(level, faced)
        self._evaluate_learner(cut, i, 1.0, 1.0)
        for level in traversal.levels[cut.k :]:
            if level is not cut:
                learner.use_all_rows(level.k)
            learner.update(level, step)
        for level in reversed(trunk):
            action_value = learner.action_value[level.k]
            scale = self._scale(level.k)
            traversal.evaluate(level, learner, faced, scale=scale, action_value=action_value)
            learner.update(level, step)

    def _scale(self, k: int) -> float:
        """The factor of values after street k of the trunk, where one board stands for all."""
        return float(self.chance.total(k + 1) / self.chance.n_deals[k + 1])

    def _respond(self, level: BoardLevel, i: int, times: float) -> None:
        """Computes the adversary's best response from the cut on: values and choices."""
        learner, best, traversal = self._learners[i], self._best[1 - i], self._traversals[i]
        learner.set_board(level)
        scale = 1.0
        if not level.final:
            traversal.pass_down(level, learner)
            traversal.each_child(
                level, best.player, lambda below, size: self._respond(below, i, size)
            )
            scale = 1.0 / self.chance.n_deals[level.k + 1]
        own: Any = best
        if self._biased(best.player):
            own = self._models[best.player]
            own.set_board(level)
        traversal.evaluate(
            level, own, learner, best=True, bias=own is not best, scale=scale, times=times,
            record=best.choices(level),
        )  # fmt: skip

    def _evaluate_learner(self, level: BoardLevel, i: int, times: float, share: float) -> None:
        """Computes the learner's values against these choices. `share`: of this board among the
        boards of its street that follow the cut."""
        learner, traversal = self._learners[i], self._traversals[i]
        faced = self._faced_best[1 - i]
        learner.set_board(level)
        faced.set_board(level)
        learner.add_reach(level, share)
        scale = 1.0
        if not level.final:
            traversal.pass_down(level, learner)
            traversal.pass_down(level, faced)
            per_board = share / self.chance.total(level.k + 1)
            traversal.each_child(
                level,
                i,
                lambda below, size: self._evaluate_learner(below, i, size, size * per_board),
            )
            scale = 1.0 / self.chance.n_deals[level.k + 1]
        action_value = learner.action_value[level.k]
        traversal.evaluate(
            level, learner, faced, scale=scale, times=times, action_value=action_value
        )

    def _biased(self, player: int) -> bool:
        return self._p is None and player in self._models

    def _restricted(
        self, adversary: LearnerSeat | BestSeat, streets: tuple[Street, ...], dtype: Any
    ) -> Seat:
        """Returns what the learner plays against: the adversary, restricted to its model."""
        if adversary.player not in self._models:
            return adversary
        model = self._models[adversary.player]
        if self._p is None:
            return BiasedSeat(adversary, model.copy(), streets, dtype)
        return RestrictedSeat(adversary, model, self._p)


class HoldemCfrBr:
    """CFR-BR in hold'em, on processors or on a device, as an engine of the solver. Iteration t
    draws its board from the seed and t, so that a run can be continued anywhere. With a
    `restriction` the learner has one seat, the other one than the restricted player."""

    def __init__(
        self, game: Game, settings: CfrBrSettings, restriction: RestrictedPlayer | None = None,
        device: Any = None,
    ) -> None:  # fmt: skip
        rules, form, counts = game.rules, game.form, game.rules.abstraction.counts
        if rules.betting.board[-1] != rules.on_board:
            raise BadParameter(
                f"cfr-br needs betting on the last street, that of the showdown, and {game.name} "
                f"has none there"
            )
        check_suits(form.cards)
        self._game, self._settings = game, settings
        self._streets = streets = streets_of(rules.tree, DTYPE)
        deck, rows = tuple(form.cards.deck.tolist()), BucketRows(form.cards, counts)
        chance = HoldemChance(deck, rules.betting.board, symmetric=rules.abstraction.deck.full)
        cut = min(len(streets) - 1, TRUNK_STREETS)
        seats = tuple(range(SEATS)) if restriction is None else (1 - restriction.player,)
        models = _models(chance, streets, game, restriction)
        p = restriction.p if restriction is not None else 0.0
        self._trainer: VectorCfrBr | DeviceCfrBr
        if settings.backend == "cuda":
            if settings.threads != 1:
                raise BadParameter("with backend=cuda processors only deal; leave out threads")
            self._trainer = DeviceCfrBr(
                chance, streets, rows, cut=cut, seed=settings.seed, device=device or NEW_DEVICE(),
                model=next(iter(models.values()), None), p=p,
            )  # fmt: skip
        else:
            _check_memory(game, chance, streets, rows, cut)
            self._trainer = VectorCfrBr(
                chance, streets, rows, cut=cut, dtype=DTYPE, seats=seats, models=models, p=p
            )
        self._nodes = len(seats) * sum(
            n * int((street.public_node[:, street.player >= 0] >= 0).sum())
            for n, street in zip(_holdings(chance, cut), streets, strict=True)
        )

    def run(self, done: int, n: int) -> int:
        settings, trainer = self._settings, self._trainer
        for t in range(done + 1, done + n + 1):
            step = Step(*settings.weights(t), settings.plus, prior_rate(t))
            if isinstance(trainer, DeviceCfrBr):
                trainer.iterate(t, step)
                continue
            rng = np.random.default_rng((settings.seed, t))
            trainer.iterate(rng, step, settings.threads)
        if isinstance(trainer, DeviceCfrBr):
            trainer.device.wait()
        return n * self._nodes

    def tables(self) -> dict[str, np.ndarray]:
        return self._trainer.arrays()

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        self._trainer.restore(saved)

    def average(self) -> np.ndarray:
        return self._slots([average_policy(*pair) for pair in self._by_street("strategy_sum")])

    def current(self) -> np.ndarray:
        pairs = self._by_street("regret")
        return self._slots([average_policy(street, np.maximum(r, 0.0)) for street, r in pairs])

    def _by_street(self, table: str) -> list[tuple[Street, np.ndarray]]:
        return list(zip(self._streets, self._trainer.blocks(table), strict=True))

    def _slots(self, blocks: list[np.ndarray]) -> np.ndarray:
        return slot_values(self._streets, blocks, self._game.form)


def _models(
    chance: HoldemChance,
    streets: tuple[Street, ...],
    game: Game,
    restriction: RestrictedPlayer | None,
) -> dict[int, FixedSeat]:
    """Returns the restricted player with its model, in the model's own card abstraction."""
    if restriction is None:
        return {}
    table, tree = form_table(restriction.model), game.rules.tree
    check_suits(table.cards)
    if restriction.p is None:
        table = table._replace(policy=table.policy * restriction.trust[:, None])
    rows = BucketRows(table.cards, code_counts(table, tree), table.carry)
    policy, player = table_blocks(tree, streets, table), restriction.player
    return {player: FixedSeat(chance, streets, player, rows, policy, DTYPE)}


def _holdings(chance: HoldemChance, cut: int) -> list[int]:
    """Returns the holdings of each street in an iteration, summed over its boards."""
    boards, out = 1, []
    for k, size in enumerate(chance.sizes):
        boards *= chance.total(k) if k > cut else 1
        out.append(boards * comb(len(chance.deck) - size, 2))
    return out


def _check_memory(
    game: Game, chance: HoldemChance, streets: tuple[Street, ...], rows: RowMap, cut: int
) -> None:
    """`TooLarge` if tables and choices do not fit into memory."""
    needed = 4.0 * table_bytes(streets, rows, np.float64)  # regrets, sums, values of both seats
    needed += table_bytes(streets[:cut], HoldingRows(chance, cut), DTYPE)
    boards = 1
    for k in range(cut, len(streets)):
        boards *= chance.total(k) if k > cut else 1
        groups, nodes = streets[k].public_node.shape[:2]
        needed += 2.0 * boards * groups * nodes * LANES * chance.n_holdings
    if not fits(needed):
        raise TooLarge(
            f"{game.name}: cfr-br takes about {needed / 1e9:.1f} GB of memory, and "
            f"{available_bytes() / 1e9:.1f} GB are free; use fewer buckets"
        )
