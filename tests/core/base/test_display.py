"""Results as frames, pictures and displays of notebooks: all of them, by one contract."""

from __future__ import annotations

import html.parser
import io
import sys
from pathlib import Path
from typing import Any

import pytest

import counterplay as cp
from counterplay.core.base.display import frame
from counterplay.core.base.errors import CounterplayError
from counterplay.core.match.result import MatchResult

KUHN = cp.load("kuhn")
HOSTILE = "<script>alert(1)</script>"


class Tags(html.parser.HTMLParser):
    """What stands open at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.add(tag)
        if tag not in ("img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _model() -> Any:
    """Of a hostile player who was seen once."""
    import numpy as np

    from counterplay.poker.models.model import OpponentModel

    game = cp.load("holdem(buckets=2)")
    counts = np.zeros(game.n_slots)
    uniform = cp.Strategy.uniform(game)
    return OpponentModel("frequency", HOSTILE, game, 1, 1, counts, (), uniform)


RESULTS = {
    "run": lambda: cp.solve(KUHN, "cfr+", iterations=100),
    "unmeasured": lambda: cp.solve("open_spiel:matrix_rps", "cfr", iterations=3),
    "strategy": lambda: cp.Strategy.random(KUHN, 1),
    "response": lambda: cp.respond(KUHN, cp.Strategy.uniform(KUHN), iterations=50),
    "frontier": lambda: cp.frontier(KUHN, cp.Strategy.uniform(KUHN), (0.0, 1.0), iterations=50),
    "match": lambda: MatchResult("kuhn", HOSTILE, "b", 20, True, 0.1, 0.01, (0.2, 0.0), 1, 2.0),
    "one deal": lambda: MatchResult(
        "kuhn", "a", "b", 2, True, 0.1, float("nan"), (0.2, 0.0), 1, 2.0
    ),
    "model": _model,
}


LONGER = ("model", "one deal", "response", "unmeasured")  # of the kind of another


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in LONGER else []) for name in RESULTS],
)
def test_every_result(name: str, tmp_path: Path) -> None:
    if name == "unmeasured":
        pytest.importorskip("pyspiel")
    result = RESULTS[name]()
    columns = result.to_frame("dict")
    assert len({len(column) for column in columns.values()}) == 1
    assert all(key.isidentifier() and key == key.lower() for key in columns)
    page = result._repr_html_()
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert "script" not in tags.seen
    assert "http" not in page  # nothing from elsewhere
    figure = result.plot()
    assert figure._repr_png_().startswith(b"\x89PNG")
    result.plot(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_in_the_frames() -> None:
    run = cp.solve(KUHN, "cfr+", iterations=100)
    metrics = run.to_frame("dict")
    assert metrics["iterations"][-1] == 100
    assert metrics["exploitability"][-1] == run.exploitability
    rows = run.strategy.to_frame("dict")
    assert rows["probability"] == run.strategy.probabilities.tolist()
    place = [*zip(rows["infoset"], rows["action"], strict=True)].index(("Q b", "bet"))
    assert rows["probability"][place] == run.strategy.at("Q b")["bet"]
    assert rows["player"][place] == 1


def test_the_library_is_chosen_or_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {"x": [1, 2]}

    class Library:
        __spec__ = None

        @staticmethod
        def DataFrame(columns: object) -> tuple[str, object]:
            return "frame", columns

    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(CounterplayError, match=f"{name} is not installed"):
            frame(made, name)
        monkeypatch.setitem(sys.modules, name, Library)
        assert frame(made, name) == ("frame", made)
    monkeypatch.setattr("counterplay.core.base.display.find_spec", lambda name: None)
    assert frame(made) is made
    monkeypatch.setattr(
        "counterplay.core.base.display.find_spec", lambda name: name == "polars" or None
    )
    assert frame(made) == ("frame", made)
    with pytest.raises(CounterplayError, match="pandas, polars, dict"):
        frame(made, "excel")


@pytest.mark.slow  # `make test-slow` installs them
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_with_the_library_itself(library: str) -> None:
    pytest.importorskip(library)
    found = cp.Strategy.uniform(KUHN).to_frame(library)
    assert found.shape == (24, 4)
    assert list(found.columns) == ["player", "infoset", "action", "probability"]


def test_a_picture_of_too_many_bars_is_refused() -> None:
    with pytest.raises(CounterplayError, match="too many for one picture"):
        cp.Strategy.uniform("leduc").plot()


def test_progress_where_there_is_no_notebook() -> None:
    said = io.StringIO()
    cp.solve(KUHN, "cfr", iterations=50, on_chunk=cp.ProgressBar(iterations=50, stream=said))
    assert "50 iterations" in said.getvalue().rsplit("\r", 1)[1]
    assert said.getvalue().endswith("\n")
    said.truncate(0)
    bar = cp.ProgressBar(stream=said)
    bar(0.25, "walking")
    assert "25% walking" in said.getvalue()


def test_progress_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where IPython has a kernel, one display is changed again and again."""
    shown: list[Any] = []

    class Handle:
        update = staticmethod(shown.append)

    class Shell:
        kernel = object()

    class IPython:
        get_ipython = staticmethod(Shell)

    class Display:
        display = staticmethod(lambda *_, **__: Handle)

    monkeypatch.setitem(sys.modules, "IPython", IPython)
    monkeypatch.setitem(sys.modules, "IPython.display", Display)
    bar = cp.ProgressBar()
    bar(0.5, "<b>")
    bar(1.0, "done")
    assert 'value="0.5000"' in shown[0]._repr_html_()
    assert "&lt;b&gt;" in shown[0]._repr_html_()
    assert "100% done" in repr(shown[1])
