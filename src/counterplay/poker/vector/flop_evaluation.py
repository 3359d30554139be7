"""Values in hold'em that ends on the flop, exactly: every flop is traversed, a query a thread."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from counterplay.core.base.progress import no_progress, progress_bar
from counterplay.core.forms.game import Evaluator
from counterplay.poker.holdem.table import form_table
from counterplay.poker.vector.evaluation import BoardEvaluator
from counterplay.poker.vector.flop_values import PreparedQuery, ValueQuery
from counterplay.poker.vector.policy import VectorPolicy
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

    check = Evaluator.check

    def values(self, queries: Sequence[ValueQuery], **options: Any) -> list[float]:
        progress = options.pop("progress", no_progress)
        self.check(options, len(queries))
        check_suits(self.game.form.cards)
        tree, deck = self.game.rules.tree, self.game.rules.abstraction.deck
        with progress_bar(progress) as progress, ThreadPoolExecutor(THREADS) as pool:
            for policy in {policy for query in queries for policy in query.policies}:
                policy.report_to(progress, self._calls(policy, queries))
            return list(
                pool.map(lambda query: PreparedQuery(query, tree, deck).whole_value(), queries)
            )

    def _calls(self, policy: VectorPolicy, queries: Sequence[ValueQuery]) -> int:
        """Returns how often these queries call a policy."""
        seats = [1 - query.player for query in queries if query.against is policy]
        seats += [query.player for query in queries if query.by is policy]
        return policy.expected_calls(self.game, players=seats)


EVALUATOR = FlopEvaluator
