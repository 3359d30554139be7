"""Values in hold'em that ends on the flop, exactly: every flop is traversed, a seat a thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.game import Evaluator, Payoff
from counterplay.core.forms.strategy import Mixture, Strategy
from counterplay.poker.vector.chance import HoldemChance
from counterplay.poker.vector.learner_tables import BucketRows, policy_blocks
from counterplay.poker.vector.public_tree import streets_of
from counterplay.poker.vector.suit_permutations import check_suits
from counterplay.poker.vector.traversal import FixedSeat, Traversal

THREADS = 2


class FlopEvaluator(Evaluator):
    """Best responses distinguish holdings; the strategy has its abstraction."""

    name = "flops"
    needs_recall = False

    @property
    def immediate(self) -> bool:
        return True

    def check(self, options: Mapping[str, Any] | None, payoffs: int) -> bool:
        if options:
            raise BadParameter(f"{next(iter(options))}: {self.game.name} is measured as a whole")
        return False

    def value(self, strategy: Strategy | Mixture, **options: Any) -> np.ndarray:
        payoff = Payoff(0, self._strategy(strategy), self._strategy(strategy))
        (value,) = self.payoffs([payoff], **options)
        return np.array([value, -value])

    def best_response(
        self, strategy: Strategy | Mixture, player: int, **options: Any
    ) -> tuple[float, None]:
        return self.payoffs([Payoff(player, self._strategy(strategy))], **options)[0], None

    def exploitability(self, strategy: Strategy | Mixture, **options: Any) -> float:
        against = self._strategy(strategy)
        return sum(self.payoffs([Payoff(player, against) for player in (0, 1)], **options))

    def payoffs(self, asked: Sequence[Payoff], **options: Any) -> list[float]:
        self.check(options, len(asked))
        check_suits(self.game.form.cards)
        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(self._payoff, asked))

    def _payoff(self, asked: Payoff) -> float:
        form, rules = self.game.form, self.game.rules
        streets = streets_of(rules.tree)
        deck = tuple(form.cards.deck.tolist())
        chance = HoldemChance(deck, rules.betting.board, symmetric=rules.abstraction.deck.full)

        def seat(player: int, strategy: Strategy) -> FixedSeat:
            rows = BucketRows(form.cards, rules.abstraction.counts)
            policy = policy_blocks(streets, rows, strategy.probabilities, form)
            return FixedSeat(chance, streets, player, rows, policy)

        other = seat(1 - asked.player, asked.against)
        own = None if asked.by is None else seat(asked.player, asked.by)
        return Traversal(chance, streets).value_against(other, own)

    def _strategy(self, strategy: Strategy | Mixture) -> Strategy:
        if isinstance(strategy, Mixture):
            raise BadParameter(f"a mixture cannot be measured in {self.game.name}")
        return strategy


EVALUATOR = FlopEvaluator
