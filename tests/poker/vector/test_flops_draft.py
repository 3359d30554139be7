"""An interrupted traversal of all flops continues where it stopped, and only there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from counterplay.core.base import store
from counterplay.poker.abstraction.abstraction import Cards
from counterplay.poker.betting.betting import LIMIT, betting_tree
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.cards.decks import FULL
from counterplay.poker.holdem.table import Table
from counterplay.poker.vector import flop_sums
from counterplay.poker.vector.flop_values import Alternative, ValueQuery
from counterplay.poker.vector.policy import VectorPolicy
from counterplay.poker.vector.public_tree import LANES

N_FLOPS = 5
TREE = betting_tree(LIMIT)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path))


def table(seed: int = 1) -> Table:
    """Returns arrays of the right kinds; nothing is traversed."""
    rng = np.random.default_rng(seed)
    shapes = ((N_HOLDINGS,), (300, 40), (256,), (1500, 40), (50,), (60, 52), (52,), (9, 70))
    cards = Cards(*(rng.integers(0, 200, shape).astype(np.uint8) for shape in shapes))
    rows = rng.integers(0, 9, 20).astype(np.int32)
    return Table(cards, rows, np.zeros(4, dtype=np.int64), rng.random((30, 3)))


def prepared(**changes: Any) -> Any:
    """Returns what stands for a prepared query."""
    parts = {"player": 0, "against": table(), "by": table(2)}
    dtype = changes.pop("dtype", np.float64)
    query = ValueQuery(**{**parts, **changes})
    return SimpleNamespace(
        query=query,
        tree=TREE,
        dtype=dtype,
        player=query.player,
        tables=(query.against, query.own),
        full=True,
        deck=np.array(FULL.cards),
        groups=1,
        flops=np.zeros((N_FLOPS, 3), dtype=np.int64),
        weight=np.ones(N_FLOPS, dtype=np.int64),
        game_value=lambda total: float(total[0, 0, 0]),
    )


def traversed(query: Any, device: bool = False, stop_after: int = N_FLOPS) -> tuple[list[int], Any]:
    """Returns the traversed flops, and the value; None where it was stopped."""
    seen: list[int] = []

    def traverse(left: list[int]) -> Any:
        for flop in left:
            if len(seen) == stop_after:
                raise KeyboardInterrupt
            seen.append(flop)
            yield flop, [np.full((1, N_HOLDINGS, LANES), 10.0**flop)]

    try:
        return seen, flop_sums.sum_all_flops([query], device, lambda share: None, traverse)[0]
    except KeyboardInterrupt:
        return seen, None


def changed(array: np.ndarray, place: int) -> np.ndarray:
    copy = array.copy()
    copy.reshape(-1)[place] += 1
    return copy


def cards(name: str, place: int) -> Callable[[], dict[str, Any]]:
    """One entry of a table of the cards is another."""

    def change() -> dict[str, Any]:
        one = table()
        other = one.cards._replace(**{name: changed(getattr(one.cards, name), place)})
        return {"against": one._replace(cards=other)}

    return change


CHANGES: dict[str, Callable[[], dict[str, Any]]] = {
    "precision": lambda: {"dtype": np.float32},
    "player": lambda: {"player": 1},
    "best": lambda: {"by": None},
    "by": lambda: {"by": table(3)},
    "policy": lambda: {"against": table()._replace(policy=changed(table().policy, 50))},
    "carry": lambda: {"against": table()._replace(carry=changed(table().carry, 2))},
    "alternative": lambda: {"alternative": Alternative(table(4), 0.5)},
    "early cards": cards("early", 41),
    "river's entries": cards("river_entry", 40 * 998 + 3),
    "river's buckets": cards("river", 255),
    "before the flop": cards("preflop", 1325),
    "links": cards("next_boards", 7),
    "the turn's buckets": cards("turn_after", 600),
}


def test_it_goes_on_where_it_stopped(tmp_path: Path) -> None:
    assert traversed(prepared(), stop_after=2) == ([0, 1], None)
    assert traversed(prepared(), stop_after=1) == ([2], None)
    assert traversed(prepared()) == ([3, 4], 11111.0)
    assert not list(tmp_path.rglob("*.draft"))  # it is over
    assert traversed(prepared()) == ([0, 1, 2, 3, 4], 11111.0)


def test_a_policy_goes_on_under_its_version() -> None:
    """A function has no hash; its author names the weights, or nothing is stored."""

    def answer(boards: Any, betting: Any) -> Any:
        raise AssertionError

    one, other, nameless = (
        prepared(against=VectorPolicy(answer, "net", version=text), by=None)
        for text in ("step 100", "step 200", "")
    )
    assert traversed(one, stop_after=2) == ([0, 1], None)
    assert traversed(other) == ([0, 1, 2, 3, 4], 11111.0)
    assert traversed(one) == ([2, 3, 4], 11111.0)
    assert traversed(nameless, stop_after=2) == ([0, 1], None)
    assert traversed(nameless) == ([0, 1, 2, 3, 4], 11111.0)


@pytest.mark.parametrize("change", CHANGES)
def test_another_query_begins_anew(change: str) -> None:
    traversed(prepared(), stop_after=2)
    assert traversed(prepared(**CHANGES[change]())) == ([0, 1, 2, 3, 4], 11111.0)
    assert traversed(prepared())[0] == [2, 3, 4]


def test_another_backend_begins_anew() -> None:
    traversed(prepared(), stop_after=2)
    assert traversed(prepared(), device=True)[0] == [0, 1, 2, 3, 4]
    assert traversed(prepared())[0] == [2, 3, 4]


def test_other_code_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    traversed(prepared(), stop_after=2)
    monkeypatch.setattr(store, "code_version", lambda *modules: "f" * 16)
    assert traversed(prepared())[0] == [0, 1, 2, 3, 4]


def test_a_damaged_draft_is_not_believed(tmp_path: Path) -> None:
    traversed(prepared(), stop_after=2)
    (path,) = tmp_path.rglob("*.draft")
    good = path.read_bytes()
    for bad in (good[:-1], good[:200] + b"x" + good[201:], b"", good + b"x" * (1 << 21)):
        path.write_bytes(bad)
        assert traversed(prepared(), stop_after=0)[0] == []
        assert traversed(prepared())[0] == [0, 1, 2, 3, 4]
    draft = flop_sums.flops_draft([prepared()], False)
    draft.write(None, {"total0": np.zeros((2, 2)), "done": np.ones(N_FLOPS, dtype=bool)})
    assert traversed(prepared())[0] == [0, 1, 2, 3, 4]


def test_where_nothing_can_be_written_it_is_traversed_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="the flops that are done stay in memory"):
        assert traversed(prepared(), stop_after=2) == ([0, 1], None)
    assert traversed(prepared())[0] == [0, 1, 2, 3, 4]
