"""Values in hold'em that ends on the flop, exactly: every flop is traversed, a seat a thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.game import Evaluator, Payoff
from counterplay.core.forms.strategy import Mixture, Strategy
from counterplay.poker.holdem.table import form_table
from counterplay.poker.vector.flop_values import PreparedQuery, ValueQuery
from counterplay.poker.vector.suit_permutations import check_suits

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
        rules = self.game.rules
        by = None if asked.by is None else form_table(asked.by)
        query = ValueQuery(asked.player, form_table(asked.against), by)
        return PreparedQuery(query, rules.tree, rules.abstraction.deck).whole_value()

    def _strategy(self, strategy: Strategy | Mixture) -> Strategy:
        if isinstance(strategy, Mixture):
            raise BadParameter(f"a mixture cannot be measured in {self.game.name}")
        return strategy


EVALUATOR = FlopEvaluator
