"""The spot editor: ranges as they are typed, spots solved in background jobs, decisions of their
strategies as grids, and answers to locks at several trusts.

Solved spots are kept with their last answers (`kept.py`), but those that are large, of which the
last are in memory until the server ends. The page shows the command that solves a spot again.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from counterplay.app.web import http
from counterplay.app.web.catalog import NotFound
from counterplay.app.web.kept import MADE, SPOT, KeptResults
from counterplay.app.web.preparation import PATIENCE, Preparations
from counterplay.core.base import memory
from counterplay.core.base.display import finite
from counterplay.core.base.errors import BadParameter, CounterplayError, flag, real
from counterplay.core.forms.strategy import Strategy
from counterplay.core.parallel.background import BackgroundJob
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS, card_text, cards
from counterplay.poker.holdem.grid import grid_label
from counterplay.poker.spots.betting import DECISION, ONWARD, STREETS
from counterplay.poker.spots.layout import SMALLER
from counterplay.poker.spots.ranges import class_text, parse_range
from counterplay.poker.spots.view import decision_path, find_node, node_reach, policy_at

LONGEST_RANGE = 20_000  # characters
MOST_LOCKS = 20
MOST_HELD = 4  # spots, and answers, in memory
MOST_BYTES = 100_000_000  # of strategies that are kept
SOLUTION = "solution"
SECONDS, MOST_SECONDS = 60.0, 3_600.0
PERCENT = 0.5  # of the pot
TRUSTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)
NUMBERS = ("pot", "stacks", "min_bet", "rake", "rake_cap")  # fields of a spot
ANSWER = ("player", "trust", "payoff", "worst_case", "value", "exploitability")
CELLS = [grid_label(row, column) for row in range(13) for column in range(13)]
CLASS = np.array([CELLS.index(class_text(k)) for k in range(N_HOLDINGS)])


@dataclass
class SolvedSpot:
    """A spot in a job: how exactly it is solved so far, and at the end its strategy. `form`: what
    the page asked."""

    game: Any
    command: str
    form: dict[str, Any]
    points: list[tuple[int, float, float]] = field(default_factory=list)
    strategy: Any = None

    def facts(self) -> dict[str, Any]:
        """Iterations, seconds and percent of the pot of each measurement, and the size."""
        rules, layout = self.game.rules, self.game.rules.layout
        return {
            "points": self.points, "solved": self.strategy is not None, "command": self.command,
            "pot": rules.pot, "sets": layout.n_infosets, "zero_sum": self.game.zero_sum,
            "megabytes": layout.bytes_needed("double") / 1e6, "seats": list(self.game.seats),
            "form": self.form,
        }  # fmt: skip

    def room(self, strategies: int) -> bool:
        """Whether so many strategies are small enough to be kept."""
        return int(strategies * self.strategy.probabilities.nbytes) <= MOST_BYTES


class SpotService:
    """The spots of the pages."""

    def __init__(self, preparations: Preparations, kept: KeptResults) -> None:
        self._jobs, self.kept = preparations.jobs, kept
        self._spots: dict[str, SolvedSpot] = {}
        self._answers: dict[str, list[Any]] = {}

    def start(self, query: dict[str, Any]) -> dict[str, Any]:
        """Starts to solve a spot; an error names the field that is wrong."""
        percent = real(query.get("percent", PERCENT), "percent")
        seconds = real(query.get("seconds", SECONDS), "seconds")
        if not 0 < percent <= 100 or not 0 < seconds <= MOST_SECONDS:
            raise BadParameter(
                f"percent of the pot is above 0, and seconds from 1 to {MOST_SECONDS:g}"
            )
        game, command = _game(query)
        memory.require(game.rules.layout.bytes_needed("double"), "solving this spot", SMALLER)
        solved = SolvedSpot(game, f"{command} -t {percent:g}", query)

        def work(job: BackgroundJob) -> None:
            _solve(job, solved, percent, seconds)
            self._save(job.key, solved)

        job = self._jobs.start(game.name, work, None, PATIENCE)
        self._hold(self._spots, job.key, solved)
        return {"key": job.key, **solved.facts()}

    def spot(self, key: str) -> SolvedSpot:
        """A spot in memory, or one that was kept."""
        if key not in self._spots:
            strategy, facts = self._kept(key, SOLUTION), self._facts(key)
            found = SolvedSpot(strategy.game, facts["command"], facts["form"], facts["points"])
            found.strategy = strategy
            self._hold(self._spots, key, found)
        return self._spots[key]

    def _facts(self, key: str) -> dict[str, Any]:
        """What was kept of a spot."""
        facts: dict[str, Any] | None = (self.kept.read(key) or {"facts": {}})["facts"].get(SPOT)
        if facts is None:
            raise NotFound("no such spot any more; solve it again")
        return facts

    def _kept(self, key: str, name: str) -> Strategy:
        self._facts(key)
        return Strategy.load(self.kept.strategy_file(f"{MADE}{key}-{name}"))

    def _save(
        self, key: str, solved: SolvedSpot, found: Sequence[Any] = (), locks: Any = ()
    ) -> None:
        """Keeps a spot and the answers `found` to `locks`, unless they are large."""
        if not solved.room(1):
            return
        answers = [{name: getattr(one, name) for name in ANSWER} for one in found]
        strategies = {str(k): one.strategy for k, one in enumerate(found)}
        if not solved.room(1 + len(found)):
            answers, strategies = [], {}
        form = solved.form
        facts = {
            "title": f"{form['board']}, pot {form.get('pot')}, stacks {form.get('stacks')}",
            "state": "done",
            SPOT: {**solved.facts(), "answers": answers, "locks": list(locks) if answers else []},
        }
        try:
            self.kept.save(key, finite(facts), {SOLUTION: solved.strategy, **strategies})
        except CounterplayError as error:  # the page has it until the server stops
            print(f"counterplay serve: {error}", file=sys.stderr)

    def answer(self, key: str, query: dict[str, Any]) -> dict[str, Any]:
        """Starts the responses to locks at several trusts."""
        from counterplay.poker.spots.responses import check_locks, lock_frontier

        solved, locks = self.spot(key), query.get("locks")
        if not isinstance(locks, list) or not 0 < len(locks) <= MOST_LOCKS:
            raise BadParameter(f"locks: give 1 to {MOST_LOCKS} of them")
        texts = [http.text_field({"lock": one}, "lock") for one in locks]
        if any(text.endswith(".toml") for text in texts):
            raise BadParameter("locks are texts here, such as 'bet 10 fold 0.7'")
        check_locks(solved.game, texts, answers=len(TRUSTS))

        def work(job: BackgroundJob) -> None:
            seen: dict[str, int] = {}

            def tell(text: str) -> None:
                job.progress(seen.setdefault(text, len(seen)) / (len(TRUSTS) + 1), text)

            found = lock_frontier(
                solved.game, texts, TRUSTS, solution=solved.strategy, progress=tell
            )
            self._hold(self._answers, job.key, found)
            self._answers.pop(key, None)  # those that were kept before
            self._save(key, solved, found, texts)

        job = self._jobs.start(f"locks of {solved.game.name}", work, None, PATIENCE)
        return {"key": job.key}

    def answers(self, key: str) -> list[Any]:
        """The responses of a job that is done, or those that were kept with the spot `key`."""
        from counterplay.poker.spots.responses import LockedResponse

        if key not in self._answers:
            rows = self._facts(key)["answers"]
            if not rows:
                raise NotFound("no such answer any more; ask for it again")
            found = []
            for k, row in enumerate(rows):
                strategy = self._kept(key, str(k))
                found.append(LockedResponse(strategy.game, **row, strategy=strategy))
            self._hold(self._answers, key, found)
        return self._answers[key]

    def locks(self, key: str) -> list[str]:
        """The locks of the answers that were kept with a spot."""
        record = self.kept.read(key)
        return record["facts"][SPOT]["locks"] if record and SPOT in record["facts"] else []

    def _hold(self, held: dict[str, Any], key: str, value: Any) -> None:
        """Holds it in memory, and forgets the oldest that nobody computes any more."""
        jobs = [(old, self._jobs.get(old)) for old in held]
        ended = [old for old, job in jobs if job is None or job.state != "running"]
        for old in ended[: max(len(held) + 1 - MOST_HELD, 0)]:
            del held[old]
        held[key] = value


def _game(query: Mapping[str, Any]) -> tuple[Any, str]:
    """The spot of the form, and the command that solves it."""
    from counterplay.poker.spots.game import spot

    given = {name: real(query.get(name), name) for name in NUMBERS if query.get(name) is not None}
    ranges = tuple(_range_field(query, name) for name in ("one", "two"))
    texts = {name: http.text_field(query, name, "") for name in ("board", "bets", "raises")}
    limit, apart = (flag(query.get(name, False), name) for name in ("limit", "apart"))
    cap = http.integer_field(query, "cap", 0, 100, 4)
    bets, raises = texts["bets"] or None, texts["raises"] or None
    pot, stacks = given.pop("pot", None), given.pop("stacks", None)
    options: dict[str, Any] = {"raises": raises, "cap": cap, **given}
    game = spot(
        texts["board"], pot, stacks, ranges, bets, limit, symmetric=not apart, **options  # type: ignore[arg-type]
    )  # fmt: skip
    options = {"pot": pot, "stacks": stacks, "bets": bets, **options}
    words = ["counterplay", "spot", texts["board"], "-1", ranges[0], "-2", ranges[1]]
    for name, value in options.items():
        if value is not None:
            shown = value if isinstance(value, str) else f"{value:.15g}"
            words += [f"--{name.replace('_', '-')}", shown]
    return game, shlex.join([*words, *["--limit"] * limit, *["--suits-apart"] * apart])


def _range_field(query: Mapping[str, Any], name: str) -> str:
    text = query.get(name, "")
    if not isinstance(text, str) or len(text) > LONGEST_RANGE:
        raise BadParameter(f"{name}: a range is a text of at most {LONGEST_RANGE:,} characters")
    return text


def _solve(job: BackgroundJob, solved: SolvedSpot, percent: float, seconds: float) -> None:
    """Solves until the exploitability is small, the time is over or the user stops it; what there
    is by then stays."""
    from counterplay.core.solvers.run import solve

    pot, first = solved.game.rules.pot, [0.0]

    def measured(progress: Any) -> bool:
        job.patience = None  # what there is from now on is waited for
        gap = 100 * progress.exploitability / pot
        solved.points.append((progress.iterations, progress.seconds, gap))
        first[0] = first[0] or gap
        span = np.log(max(first[0], percent) / percent)
        near = 1.0 - np.log(max(gap, percent) / percent) / span if span > 0 else 1.0
        share = max(float(near), progress.seconds / seconds)
        with suppress(KeyboardInterrupt):
            job.progress(min(share, 1.0), f"{gap:.2g}% of the pot")
        return job.stopping

    limits: dict[str, Any] = {"target": percent / 100 * pot, "seconds": seconds}
    job.progress(0.0, "solving")
    run: Any = solve(
        solved.game, "dcfr", threads="auto", callback=measured,
        on_chunk=lambda progress: job.stopping, **limits,
    )  # fmt: skip
    if not run.iterations:
        raise KeyboardInterrupt
    solved.points.append((run.iterations, run.seconds, 100 * run.exploitability / pot))
    solved.strategy = run.strategy


def range_facts(text: str) -> dict[str, Any]:
    """The mean weight of each of the 169 classes of a range, and its number of holdings."""
    weights = parse_range(text, "range")
    counts = np.bincount(CLASS, minlength=len(CELLS))
    means = np.bincount(CLASS, weights, minlength=len(CELLS)) / counts
    return {"weights": np.round(means, 4).tolist(), "holdings": round(float(weights.sum()), 2)}


def decision_facts(strategy: Any, history: str, board: str) -> dict[str, Any]:
    """One decision for the page: the way there, and the probabilities of all 1,326 holdings; only
    the way where the board has too few cards."""
    rules = strategy.game.rules
    layout, names = rules.layout, rules.layout.named
    node = find_node(rules, history)
    player, street = int(layout.tree.player[node]), int(layout.tree.street[node])
    given = cards(board) if board else list(rules.board)
    if sorted(given[: len(rules.board)]) != sorted(rules.board):
        given = list(rules.board)
    dealt, needed = given[len(rules.board) :], len(rules.board) + street
    path = decision_path(layout, node)
    facts: dict[str, Any] = {
        "history": rules.history(node),
        "board": [card_text(card) for card in given[:needed]],
        "needed": needed,
        "street": STREETS[3 - rules.betting.n_streets + street],
        "player": player,
        "actions": names.actions[node],
        "steps": [_step(rules, k, action) for k, action in path if names.actions[k]],
        **_money(layout, node, rules.pot),
    }
    if len(given) < needed:
        return facts
    dealt = dealt[:street]
    shares, reach = policy_at(layout, strategy, node, dealt), np.zeros(N_HOLDINGS)
    side = layout.sides[player]
    reach[side.holding] = node_reach(layout, strategy, node, player, dealt)
    every = np.zeros((shares.shape[1], N_HOLDINGS))
    every[:, side.holding] = shares.T
    total = reach.sum()
    free = ~np.isin(HOLDING_CARDS, given[:needed]).any(axis=1)
    mean = (every @ reach / total).tolist() if total > 0 else None
    part = {"shares": np.round(every, 4).tolist(), "reach": np.round(reach, 5).tolist()}
    return facts | {"one": {**part, "mean": mean}, "free": free.astype(int).tolist()}


def _step(rules: Any, node: int, taken: int) -> dict[str, Any]:
    """A decision on the way: its actions, and the decision after each, None where there is none."""
    layout, names = rules.layout, rules.layout.named
    actions, first = names.actions[node], int(layout.tree.first_child[node])
    after = []
    for k in range(len(actions)):
        child = first + k
        if layout.tree.kind[child] == ONWARD:
            child = int(layout.tree.first_node[layout.tree.next_segment[child]])
        after.append(rules.history(child) if layout.tree.kind[child] == DECISION else None)
    street = 3 - rules.betting.n_streets + int(layout.tree.street[node])
    return {
        "history": rules.history(node), "street": STREETS[street], "actions": actions,
        "player": int(layout.tree.player[node]), "after": after, "board_size": len(rules.board),
        "taken": actions[taken] if taken >= 0 else None,
    }  # fmt: skip


def _money(layout: Any, node: int, pot: float) -> dict[str, float]:
    """Chips in the pot and to call. Payoffs of losing are what was paid, with half the pot."""
    paid, call = -layout.tree.payoff[node, 0, 0] - pot / 2, 0.0
    for k, action in enumerate(layout.named.actions[node]):
        if action == "call":
            child = int(layout.tree.first_child[node]) + k
            call = -layout.tree.payoff[child, 0, 0] - pot / 2 - paid
    return {"pot": pot + 2 * paid + call, "call": call}


def routes(preparations: Preparations, kept: KeptResults) -> list[Route]:
    service = SpotService(preparations, kept)

    def ranges(request: Request) -> dict[str, Any]:
        return range_facts(_range_field(request.query_params, "text"))

    async def start(request: Request) -> Response:
        query = await http.json_body(request)
        return http.json_reply(await http.in_thread(service.start, query))

    def state(request: Request) -> dict[str, Any]:
        key = request.path_params["key"]
        record = service.kept.read(key)
        facts = {"locks": service.locks(key), "name": None if record is None else record["name"]}
        return {**service.spot(key).facts(), **facts}

    def view(request: Request) -> dict[str, Any]:
        query, solved = request.query_params, service.spot(request.path_params["key"])
        strategy = solved.strategy
        if answers := http.text_field(query, "answers", ""):
            found = service.answers(answers)
            strategy = found[http.integer_field(query, "k", 0, len(found) - 1, 0)].strategy
        if strategy is None:
            raise BadParameter("this spot is not solved yet")
        history = http.text_field(query, "history", "start")
        return decision_facts(strategy, history, http.text_field(query, "board", ""))

    async def lock(request: Request) -> Response:
        query = await http.json_body(request)
        key = request.path_params["key"]
        return http.json_reply(await http.in_thread(service.answer, key, query))

    def answers(request: Request) -> dict[str, Any]:
        found = service.answers(request.path_params["key"])
        names = ("trust", "payoff", "gain", "risk", "worst_case")
        rows = [{name: getattr(one, name) for name in names} for one in found]
        return {"player": found[0].player, "pot": found[0].game.rules.pot, "points": rows}

    return [
        http.json_route("/spots/range", ranges),
        http.route("/spots", start, "POST"),
        http.json_route("/spots/answers/{key}", answers),
        http.json_route("/spots/{key}", state),
        http.json_route("/spots/{key}/view", view),
        http.route("/spots/{key}/locks", lock, "POST"),
    ]
