"""Values in hold'em by vector-form traversal of the public tree: of all flops, or of a sample.

An abstract strategy is evaluated in the unabstracted game: a best response sees its real cards, as
in the exploitability of Johanson et al. 2011. With `flops=40` the result is an estimate from a
sample of flops (`flop_sums.py`); beside a `KnownPlayer` it is a narrow one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, unknown, whole_number
from counterplay.core.base.progress import ShareCallback, no_progress, progress_bar
from counterplay.core.forms.game import Evaluator, Game, Payoff
from counterplay.core.forms.mixture import Mixture
from counterplay.core.forms.strategy import Strategy
from counterplay.core.games.players import players_of
from counterplay.core.parallel.jobs import map_in_threads
from counterplay.core.parallel.processes import cores
from counterplay.core.parallel.ray_cluster import Cluster, current
from counterplay.poker.holdem.table import Table, form_table, strategy_table
from counterplay.poker.vector.flop_sums import (
    FlopSample,
    control_variate,
    cpu_hours,
    have_names,
    sample_flops,
    stored_flops,
    sum_all_flops,
)
from counterplay.poker.vector.flop_values import (
    BACKENDS,
    Alternative,
    Played,
    PreparedQuery,
    ValueQuery,
    check_streets,
    values_on_cpu,
    values_on_device,
)
from counterplay.poker.vector.policy import VectorPolicy
from counterplay.poker.vector.suit_permutations import check_suits

FLOPS = 1_755  # that are not suit-isomorphic
LEAST_FLOPS = 12
OPTIONS = ("backend", "flops", "seed", "progress")  # of a traversal
REMOTE_FLOPS = 2  # flops in one task of a remote worker
FlopValues = Iterator[tuple[int, list[np.ndarray]]]  # flops with their values for each query


class KnownPlayer(NamedTuple):
    """A player whose exploitability over every board, b1 + b2 in sb/h, is known."""

    name: str
    table: Table
    exploitability: float


def vector_values(
    game: Game,
    queries: Sequence[ValueQuery],
    backend: str = "auto",
    flops: int | None = None,
    seed: int = 0,
    progress: ShareCallback = no_progress,
    known: KnownPlayer | None = None,
) -> list[float]:
    """Returns the value of each query: a number, or an estimate when `flops` is given, that of a
    best response beside a `known` player on the same flops."""
    mixed = any(query.alternative is not None or query.policies for query in queries)
    device = check_traversal(game, backend, flops, seed, queries=len(queries), mixed=mixed)
    prepared, traverse = _prepared_traversal(game, queries, device)
    with progress_bar(progress) as progress:
        if flops is None:
            return sum_all_flops(prepared, device, progress, traverse)
        if have_names(prepared) and any(query.policies for query in queries):
            traverse = stored_flops(prepared, device, traverse)  # asked again, it goes on
        if known is None or not any(query.best for query in prepared):
            samples = sample_flops(prepared, flops, seed, progress, traverse)
            return [sample.estimate() for sample in samples]
        half = partial(_half, progress)
        beside = known_samples(game, known, flops, backend, seed, partial(half, 0.0))
        samples = sample_flops(prepared, flops, seed, partial(half, 1.0), traverse)
        exact = known.exploitability
        return [
            control_variate([sample], beside, exact) if query.best else sample.estimate()
            for query, sample in zip(prepared, samples, strict=True)
        ]


def _half(progress: ShareCallback, done: float, share: float) -> None:
    progress((done + share) / 2)


def _prepared_traversal(
    game: Game, queries: Sequence[ValueQuery], device: bool
) -> tuple[list[PreparedQuery], Callable[[list[int]], FlopValues]]:
    for query in queries:
        for table in (query.against, query.own):
            if isinstance(table, Table):
                check_suits(table.cards)
    prepared = _prepare(game, queries)
    cluster = None if device else current()
    if cluster is not None and all(_can_be_sent(game, query) for query in queries):
        return prepared, partial(_traverse_remotely, cluster, game, queries)
    return prepared, partial(_traverse, prepared, device)


def known_samples(
    game: Game,
    known: KnownPlayer,
    flops: int,
    backend: str = "auto",
    seed: int = 0,
    progress: ShareCallback = no_progress,
) -> list[FlopSample]:
    """Returns what best responses of both seats win from a known player on the flops drawn, for
    `control_variate`. The values of flops stay in the cache folder."""
    device = check_traversal(game, backend, flops, seed, queries=2)
    queries = [ValueQuery(player, known.table) for player in (0, 1)]
    prepared, traverse = _prepared_traversal(game, queries, device)
    traverse = stored_flops(prepared, device, traverse)
    return sample_flops(prepared, flops, seed, progress, traverse)


def _prepare(game: Game, queries: Sequence[ValueQuery]) -> list[PreparedQuery]:
    tree, deck, blocks = game.rules.tree, game.rules.abstraction.deck, dict[int, Any]()
    return [PreparedQuery(query, tree, deck, blocks=blocks) for query in queries]


def check_traversal(
    game: Game,
    backend: str = "auto",
    flops: int | None = None,
    seed: int = 0,
    progress: ShareCallback = no_progress,
    *,
    queries: int,
    mixed: bool = False,
) -> bool:
    """Returns whether a traversal for this number of queries runs on a device; raises
    `BadParameter` for impossible options."""
    if backend not in BACKENDS:
        raise BadParameter(f"backend must be one of {', '.join(BACKENDS)}, not {backend!r}")
    for name, number in (("flops", flops), ("seed", seed)):
        if number is not None:
            whole_number(number, None, None, name)
    if flops is not None and flops < LEAST_FLOPS:
        raise BadParameter(f"an estimate needs at least {LEAST_FLOPS} flops, not {flops}")
    if seed < 0:
        raise BadParameter(f"seed must be at least 0, not {seed}")
    check_streets(game.rules.tree)
    full = game.rules.abstraction.deck.full
    device = full and _on_device(backend, mixed)
    if flops is None and not device and full and backend != "cpu":
        hours = cpu_hours(queries)
        raise BadParameter(
            f"without a CUDA device all flops take about {hours:.0f} hours on {cores()} processors "
            "(backend=cpu does it, stores finished flops and continues with the same call); "
            f"flops=40 gives an estimate in about {60 * hours * 40 / FLOPS:.0f} minutes; in a "
            "command --backend cpu and --flops 40"
        )
    return device


def _on_device(backend: str, mixed: bool) -> bool:
    if backend == "cuda" and mixed:
        raise BadParameter("mixtures and policies are evaluated on processors; use backend=cpu")
    if backend == "cpu" or mixed:
        return False
    from counterplay.core.kernels.device import cupy

    try:
        cupy()
        return True
    except BadParameter:
        if backend == "cuda":
            raise
        return False


def _traverse(prepared: list[PreparedQuery], device: bool, flops: list[int]) -> FlopValues:
    if device and not all(query.same_boards(prepared[0]) for query in prepared):
        for row in zip(*(values_on_device([query], flops) for query in prepared), strict=True):
            yield row[0][0], [values for _, (values,) in row]
    else:
        yield from (values_on_device if device else values_on_cpu)(prepared, flops)


def _can_be_sent(game: Game, query: ValueQuery) -> bool:
    """Returns whether every table has the game's own cards, which remote workers load by
    themselves."""
    tables = [query.against, query.own]
    tables += [query.alternative.table] if query.alternative is not None else []
    cards = game.form.cards
    return all(isinstance(table, Table) and table.cards is cards for table in tables)


def _traverse_remotely(
    cluster: Cluster, game: Game, queries: Sequence[ValueQuery], flops: list[int]
) -> FlopValues:
    pieces = [flops[k : k + REMOTE_FLOPS] for k in range(0, len(flops), REMOTE_FLOPS)]
    light = [_with_cards(query, None) for query in queries]
    for values in cluster.spread(_traverse_piece, pieces, (game, light), _prepare_remotely):
        yield from values


def _prepare_remotely(sent: tuple[Game, list[ValueQuery]]) -> list[PreparedQuery]:
    game, light = sent
    return _prepare(game, [_with_cards(query, game.form.cards) for query in light])


def _traverse_piece(
    prepared: list[PreparedQuery], flops: list[int]
) -> list[tuple[int, list[np.ndarray]]]:
    return list(values_on_cpu(prepared, flops, 1))


def _with_cards(query: ValueQuery, cards: Any) -> ValueQuery:
    """Returns the query with other cards in its tables, and writable copies of their arrays."""

    def change(table: Played) -> Table:
        assert isinstance(table, Table)
        arrays = (table.first_row, table.carry, table.policy)
        return Table(cards, *(np.array(array) for array in arrays))

    alternative = query.alternative
    return query._replace(
        against=change(query.against),
        by=None if query.by is None else change(query.by),
        alternative=alternative and alternative._replace(table=change(alternative.table)),
    )


def tables_of(
    strategy: Strategy | Mixture | Played, read: Callable[[Strategy], Table] = strategy_table
) -> tuple[Played, Alternative | None]:
    """Returns a strategy, a policy, or the table of a bot, as a table with an alternative."""
    if isinstance(strategy, Table | VectorPolicy):
        return strategy, None
    if isinstance(strategy, Strategy):
        return read(strategy), None
    return read(strategy.one), Alternative(read(strategy.other), 1.0 - strategy.weight)


def best_response_values(
    game: Game,
    strategy: Strategy | Mixture | Played,
    players: Sequence[int] = (0, 1),
    **options: Any,
) -> list[float]:
    """Returns the value of a best response of each of `players`, in one traversal."""
    table, alternative = tables_of(strategy)
    queries = [ValueQuery(player, table, None, alternative) for player in players]
    return vector_values(game, queries, **options)


class BoardEvaluator(Evaluator):
    """Values by vector-form traversal of the public tree. Best responses distinguish holdings; the
    strategy has its abstraction."""

    name = "boards"
    read = staticmethod(strategy_table)
    how = (
        "is measured by traversing its boards, which takes long; say how: measure={'flops': 40} "
        "for an estimate, {'backend': 'cuda'} exactly; in a command --flops 40 or --backend cuda"
    )

    def check(self, options: Mapping[str, Any] | None, payoffs: int) -> bool:
        if options is None:
            return False
        strange = [name for name in options if name not in OPTIONS]
        if strange:
            raise unknown("option of measure", strange[0], OPTIONS)
        check_traversal(self.game, **options, queries=payoffs)
        return True

    def values(self, queries: Sequence[ValueQuery], **options: Any) -> list[float]:
        """Returns the value of each query; on a sample of flops beside a known player."""
        if options.get("flops") is not None:
            measured = next((query.against for query in queries if query.by is None), None)
            if measured is not None:
                options |= {"known": players_of(self.game).known_player(measured)}
        return vector_values(self.game, queries, **options)

    def value(self, strategy: Strategy | Mixture, **options: Any) -> np.ndarray:
        table, alternative = tables_of(strategy, self.read)
        played: list[tuple[Played, float]] = [(table, 1.0)]
        if alternative is not None:
            played = [(table, 1.0 - alternative.share), alternative]
        queries = [ValueQuery(0, table, by, alternative) for by, _ in played]
        values = zip(self.values(queries, **options), played, strict=True)
        value = sum(value * share for value, (_, share) in values)
        return np.array([value, -value], dtype=object if options.get("flops") else None)

    def best_response(
        self, strategy: Strategy | Mixture, player: int, **options: Any
    ) -> tuple[float, None]:
        return self._best_responses(strategy, [player], **options)[0], None

    def exploitability(self, strategy: Strategy | Mixture, **options: Any) -> float:
        return sum(self._best_responses(strategy, [0, 1], **options))

    def _best_responses(
        self, strategy: Strategy | Mixture, players: list[int], **options: Any
    ) -> list[float]:
        table, alternative = tables_of(strategy, self.read)
        queries = [ValueQuery(player, table, None, alternative) for player in players]
        return self.values(queries, **options)

    def payoffs(self, asked: Sequence[Payoff], **options: Any) -> list[float]:
        tables: dict[int, Table] = {}  # by identity: many queries share a strategy

        def read(strategy: Strategy) -> Table:
            if id(strategy) not in tables:
                tables[id(strategy)] = self.read(strategy)
            return tables[id(strategy)]

        queries, shares = [], []  # what a mixture wins is the mixture of what its parts win
        for player, against, by in asked:
            table, alternative = tables_of(against, read)
            played: list[tuple[Played | None, float]] = [(None, 1.0)]
            if by is not None:
                own, other = tables_of(by, read)
                played = [(own, 1.0)] if other is None else [(own, 1.0 - other.share), other]
            queries += [ValueQuery(player, table, mine, alternative) for mine, _ in played]
            shares.append([share for _, share in played])
        values = iter(self.values(queries, **options))
        return [sum(share * next(values) for share in parts) for parts in shares]


FLOP_THREADS = 2


class FlopEvaluator(BoardEvaluator):
    """Exact values in hold'em that ends on the flop: every flop is traversed, a query a thread. As
    `BoardEvaluator`, quick enough to run without being asked for."""

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

        def value(query: ValueQuery) -> float:
            return PreparedQuery(query, tree, deck).whole_value()

        with progress_bar(progress) as progress:
            for policy in {policy for query in queries for policy in query.policies}:
                policy.report_to(progress, self._calls(policy, queries))
            return map_in_threads(value, queries, FLOP_THREADS)

    def _calls(self, policy: VectorPolicy, queries: Sequence[ValueQuery]) -> int:
        """Returns how often these queries call a policy."""
        seats = [1 - query.player for query in queries if query.against is policy]
        seats += [query.player for query in queries if query.by is policy]
        return policy.expected_calls(self.game, players=seats)


EVALUATOR = (BoardEvaluator, FlopEvaluator)
