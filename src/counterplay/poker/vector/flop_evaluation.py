"""Values in hold'em that ends on the flop, exactly: every flop is traversed, a query a thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from counterplay.core.base.errors import BadParameter
from counterplay.poker.holdem.table import form_table
from counterplay.poker.vector.evaluation import BoardEvaluator
from counterplay.poker.vector.flop_values import PreparedQuery, ValueQuery
from counterplay.poker.vector.suit_permutations import check_suits

THREADS = 2


class FlopEvaluator(BoardEvaluator):
    """As `BoardEvaluator`, quick enough to run without being asked for."""

    name = "flops"
    how = ""
    needs_recall = False
    read = staticmethod(form_table)

    @property
    def immediate(self) -> bool:
        return True

    def check(self, options: Mapping[str, Any] | None, payoffs: int) -> bool:
        if options:
            raise BadParameter(f"{next(iter(options))}: {self.game.name} is measured as a whole")
        return False

    def values(self, queries: Sequence[ValueQuery], **options: Any) -> list[float]:
        self.check(options, len(queries))
        check_suits(self.game.form.cards)
        tree, deck = self.game.rules.tree, self.game.rules.abstraction.deck
        with ThreadPoolExecutor(THREADS) as pool:
            return list(
                pool.map(lambda query: PreparedQuery(query, tree, deck).whole_value(), queries)
            )


EVALUATOR = FlopEvaluator
