"""`exam`: a player of limit hold'em against the shipped players and the table bots.

Deals are played twice with the seats swapped, by two copies of the player that keep their memories.
Payoffs are luck-adjusted, against tables with imaginary observations
(`poker/match/imaginary.py`), and then by controls: the parts of the adjustment, and the luck in the
plain payoffs, which are the better ones where both play alike. A match ends when its confidence
sequence (`core/match/sequences.py`) excludes 0 or lies within the margin, or after the planned
hands.

For a player who learns, a payoff is one of the player as it is at that hand; the interval is one of
the mean over the hands played.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from counterplay.core.base.errors import (
    BadParameter,
    CounterplayError,
    Interrupted,
    positive,
    whole_number,
)
from counterplay.core.base.progress import ProgressCallback, no_progress, progress_bar
from counterplay.core.base.registry import call_user_code
from counterplay.core.base.version import version
from counterplay.core.forms.registry import load
from counterplay.core.kernels.jit import clock
from counterplay.core.kernels.rng import check_seed
from counterplay.core.match.luck_adjustment import PlayedDeals
from counterplay.core.match.sequences import LEVEL, ConfidenceSequence, ControlledSamples
from counterplay.poker.acpc.program import AcpcProgram, player_or_program
from counterplay.poker.betting.betting import ACTIONS, LIMIT, betting_tree
from counterplay.poker.bots.registry import BOTS, BotSpec
from counterplay.poker.bots.table import TableBot
from counterplay.poker.exam.candidate import Candidate, milliseconds, tells_shares, two_of
from counterplay.poker.exam.result import Exam, ExamFailed, ExamRow
from counterplay.poker.match.deals import session_deals
from counterplay.poker.match.imaginary import ImaginaryLuckAdjustment
from counterplay.poker.match.luck_adjustment import PARTS, HoldemLuckAdjustment
from counterplay.poker.match.match import check_betting, only_seat
from counterplay.poker.match.referee import PlayedHand, bot_name, play_hands, start_bots
from counterplay.poker.players import DEFAULT_GAME, bot
from counterplay.poker.vector.evaluation import LEAST_FLOPS

HANDS = 3_000
VIEW = "holdem(buckets=16)"  # of the values in luck adjustment against tables
MARGIN = 0.05  # sb/h
BLOCK = 50  # deals after which the model of the player is renewed
SCALE = 1.0  # sb/h: of the standard deviation of a luck-adjusted duplicate deal
MOST_HANDS = 10**6
MOST_COPIES = 100
#: What best responses win from simple bots, the mean of both seats (Johanson et al. 2011, and
#: benchmarks/exact.csv).
LEAKS = {"always-fold": 0.75, "always-call": 1.16348, "always-raise": 3.69769}


def opponents() -> tuple[str, ...]:
    """The names of the default opponents: shipped strategies, and bots that are tables."""
    return tuple(sorted(name for name, spec in BOTS.items() if _is_table(spec)))


def _is_table(spec: BotSpec) -> bool:
    return spec.strategy is not None or spec.table is not None


def exam(
    player: Any,
    against: Sequence[Any] | None = None,
    hands: int = HANDS,
    seed: int = 0,
    *,
    margin: float = MARGIN,
    copies: int = 0,
    flops: int | None = None,
    progress: ProgressCallback = no_progress,
) -> Exam:
    """Examines a player of limit hold'em: any player of `play_match`, a class of bots, or
    `acpc:COMMAND`, a program of the competition.

    It plays at most `hands` hands against each player of `against` (by default the shipped
    strategies and the bots that are tables), and stops when a 95% confidence sequence says that it
    wins, loses, or is within `margin` sb/h of even. `copies`: so many copies of a player in Python
    that does not say its probabilities are asked too, to take the luck of its own mixing out.
    `flops`: also estimate its exploitability from so many flops, where it is a table or a function.
    Ctrl-C raises `Interrupted`, whose `result` is the exam so far (None before the first match was
    over); an error in a later match `ExamFailed`, which has one too.
    """
    whole_number(hands, 2, MOST_HANDS, "hands")
    whole_number(copies, 0, MOST_COPIES, "copies")
    check_seed(seed)
    positive(margin, "margin")
    if flops is not None:
        whole_number(flops, LEAST_FLOPS, None, "flops")
    given = player
    if isinstance(player, type):
        player = call_user_code(player, player.__name__)
    begun = clock()
    with progress_bar(progress) as progress:
        examined, others = _players(player, against, progress)
        lanes = _lanes(given, examined, copies)
        rows, end = _matches(lanes, others, hands, seed, margin, progress)
        exploitable, note = None, "stopped before it was measured"
        if end is None:
            try:
                exploitable, note = measured(player, flops, progress)
            except KeyboardInterrupt as stop:
                end = stop
    mean_ms, slow_ms, most_ms = milliseconds([t for lane in lanes for t in lane.seconds])
    result = Exam(
        player=str(player) if isinstance(player, str) else bot_name(examined),
        rows=tuple(rows),
        hands=hands,
        margin=margin,
        seed=seed,
        level=LEVEL,
        actions=sum(len(lane.seconds) for lane in lanes),
        illegal=sum(lane.illegal for lane in lanes),
        mean_ms=mean_ms,
        most_ms=most_ms,
        slow_ms=slow_ms,
        seconds=clock() - begun,
        exploitability=exploitable,
        exploitability_note=note,
        version=version(),
        stopped=end is not None,
        told=lanes[0].tells,
        copies=copies,
        failure=str(end) if isinstance(end, CounterplayError) else "",
    )
    if isinstance(end, CounterplayError):
        raise ExamFailed(str(end), result) if rows else end
    if end is not None:
        raise Interrupted(result if rows else None)
    return result


def _players(
    player: Any, against: Sequence[Any] | None, progress: ProgressCallback
) -> tuple[Any, list[tuple[Any, Any]]]:
    """The bot that is examined, and its opponents with what they were named by."""
    if isinstance(against, str):
        raise BadParameter(f"against is a list of players, not {against!r}")
    names = list(opponents() if against is None else against)
    if not names:
        raise BadParameter("an exam needs an opponent; leave out against for all of them")
    examined = bot(player_or_program(player), progress)
    check_betting(LIMIT, (examined,))
    others = [(name, bot(player_or_program(name), progress)) for name in names]
    for one in (examined, *(other for _, other in others)):
        if only_seat(one, None) is not None:
            raise BadParameter(
                f"an exam is in both seats, and {bot_name(one)} is a response for one"
            )
    return examined, others


def _lanes(given: Any, examined: Any, copies: int) -> tuple[Candidate, Candidate]:
    """The two candidates of a player that was given as a class, a word or itself; refuses copies
    that say nothing new or cannot follow a hand."""

    def again() -> Any:
        if isinstance(given, type):
            return call_user_code(given, given.__name__)
        return bot(given) if isinstance(given, str) else examined

    if copies and tells_shares(examined):
        raise BadParameter(
            f"{bot_name(examined)} says its probabilities, so that copies say nothing new"
        )
    if copies and isinstance(examined, AcpcProgram):
        raise BadParameter("copies are of players in Python; a program answers about its own hands")
    return two_of(examined, copies, again)


def _matches(
    lanes: tuple[Candidate, Candidate],
    others: list[tuple[Any, Any]],
    hands: int,
    seed: int,
    margin: float,
    progress: ProgressCallback,
) -> tuple[list[ExamRow], BaseException | None]:
    """The matches that were played, and what ended them before the last; the player is ended."""
    rows: list[ExamRow] = []
    try:
        for k, (name, other) in enumerate(others):
            part = _Part(progress, k, len(others), str(name))
            rows.append(_match(lanes, name, other, hands, seed, margin, part))
    except (KeyboardInterrupt, CounterplayError) as end:
        return rows, end
    finally:
        for lane in lanes:
            lane.close()
    return rows, None


class _Part:
    """The progress of one of several matches."""

    def __init__(self, progress: ProgressCallback, number: int, total: int, name: str) -> None:
        self._progress, self._number, self._total, self._name = progress, number, total, name

    def __call__(self, share: float, what: str) -> None:
        self._progress((self._number + share) / self._total, f"{self._name}: {what}")


def _match(
    lanes: tuple[Candidate, Candidate],
    name: Any,
    opponent: Any,
    hands: int,
    seed: int,
    margin: float,
    progress: ProgressCallback,
) -> ExamRow:
    """The match against one opponent."""
    begun, planned = clock(), -(-hands // 2)
    progress(0.0, "tables")
    sequence, won, needed = ConfidenceSequence(planned, SCALE), list[np.ndarray](), None
    for raw, samples in played_samples(lanes, opponent, planned, seed, progress):
        intervals = sequence.add(samples)
        clear = [one for one in intervals if one.excludes(0.0) or one.within(margin)]
        won.append(raw.won)
        now = sequence.interval
        progress(now.samples / planned, f"{2 * now.samples:,} hands, {now.mean:+.3f} sb/h")
        if clear and (now.excludes(0.0) or now.within(margin)):
            needed = 2 * clear[0].samples
            break
    last = sequence.interval
    return ExamRow(
        opponent=str(name) if isinstance(name, str) else bot_name(opponent),
        hands=2 * last.samples,
        mean=last.mean,
        low=last.low,
        high=last.high,
        needed=needed,
        raw=float(np.concatenate(won).mean()),
        deviation=sequence.deviation,
        seconds=clock() - begun,
        margin=margin,
        most=most_from(name),
    )


def most_from(name: Any) -> float | None:
    """What a best response wins from a known opponent, in sb/h: how large its leaks are."""
    if not isinstance(name, str) or name not in BOTS:
        return None
    shipped = BOTS[name].shipped
    return LEAKS.get(name) if shipped is None else shipped.mb_per_game / 1000


def played_samples(
    lanes: tuple[Candidate, Candidate],
    opponent: Any,
    planned: int,
    seed: int,
    progress: ProgressCallback = no_progress,
) -> Iterator[tuple[PlayedDeals, np.ndarray]]:
    """The played deals, block by block, and the adjusted payoff of each, the mean of its seats."""
    adjuster = luck_adjuster(lanes[0].bot, opponent, progress)
    imaginary = isinstance(adjuster, ImaginaryLuckAdjustment)
    controlled = ControlledSamples(PARTS if imaginary else 1, SCALE)
    for raw, told in played_blocks(lanes, opponent, planned, seed):
        plain, controls = raw.won.mean(axis=1), []
        if imaginary:
            parts = adjuster.parts(raw, told).mean(axis=1)
            adjusted, controls = parts.sum(axis=1), list(parts[:, :-1].T)
        else:
            adjusted = adjuster.adjusted(raw).mean(axis=1)
        yield raw, controlled.add(adjusted, np.column_stack([*controls, plain - adjusted]))
        if imaginary:
            adjuster.learn(raw, told)


def luck_adjuster(player: Any, opponent: Any, progress: ProgressCallback) -> Any:
    if isinstance(opponent, TableBot):
        return ImaginaryLuckAdjustment(load(VIEW), player, opponent.table, progress)
    return HoldemLuckAdjustment(load(DEFAULT_GAME), player, opponent, 0, progress)


def played_blocks(
    lanes: tuple[Candidate, Candidate], opponent: Any, planned: int, seed: int
) -> Iterator[tuple[PlayedDeals, np.ndarray | None]]:
    """The played deals, block by block, and the probabilities that the player told, float64[n, 2,
    decisions, 3]. Both copies of the player start without memory."""
    faced = two_of(opponent)
    others = [one.bot for one in faced]
    try:
        for block in range(-(-planned // BLOCK)):
            n = min(BLOCK, planned - block * BLOCK)
            deals, k = session_deals(seed, block, n, BLOCK), np.arange(n)
            won, ends = np.full((n, 2), np.nan), np.zeros((n, 2), dtype=np.int32)
            told = np.zeros((n, 2, betting_tree(LIMIT).depth, len(ACTIONS)))
            for swap, (lane, other) in enumerate(zip(lanes, others, strict=True)):
                if block == 0:
                    seeds = deals.start_seeds
                    start_bots((lane, other), (seeds[1], seeds[0]) if swap else seeds)
                hands: list[PlayedHand] = []
                lane.told.clear()
                result = play_hands((lane, other), deals, bool(swap), hands.append)
                column = ((deals.first + k) & 1) ^ swap
                won[k, column] = result
                ends[k, column] = [hand.end for hand in hands]
                for hand, shares in enumerate(lane.told):
                    told[hand, column[hand], : len(shares)] = np.reshape(shares, (-1, len(ACTIONS)))
            yield PlayedDeals(deals.cards, won, ends), told if lanes[0].known else None
    finally:
        for one in faced:
            one.close()


def measured(
    player: Any, flops: int | None, progress: ProgressCallback = no_progress
) -> tuple[float | None, str]:
    """The exploitability of a player, b1 + b2 in sb/h, if it can be had; and how, or why not."""
    from counterplay.core.evaluation.exact import exploitability
    from counterplay.core.games.players import players_of
    from counterplay.poker.players import game_of

    word = player_or_program(player)
    if word is not player:
        return None, "a program has no table; a model of its hands has (counterplay model)"
    game = game_of(player)
    found = players_of(game).find(player)
    shipped = getattr(found, "shipped", None)
    if shipped is not None:
        return shipped.exploitability, "certified, over every board"
    try:
        profile = players_of(game).measurable(player)
    except CounterplayError:
        return None, "a bot without a table of probabilities; a model of its hands has one"
    if flops is None:
        return None, "not asked for; flops=12, on the command line --flops 12, estimates it"
    value = exploitability(
        game, profile, flops=flops, progress=lambda share: progress(share, f"{flops} flops")
    )
    error = getattr(value, "error", 0.0)
    return float(value), f"estimated from {flops} flops, ± {error:.4f} {game.unit} (95%)"
