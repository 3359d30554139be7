"""Synthetic results and what a page must be, for the tests of the report."""

from __future__ import annotations

import base64
import struct
import zlib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from counterplay.app.reproduction.harness.base import (
    Claim,
    Experiment,
    ExperimentFailure,
    Outcome,
    ResultTable,
)
from counterplay.app.reproduction.harness.judge import Verdict
from counterplay.app.reproduction.harness.report import picture
from counterplay.app.reproduction.harness.store import result_version

HOSTILE = (
    "</style></title><script>alert(1)</script><img src=http://evil.example/x.png onerror=alert(2)>"
    " \"' &amp; {{ 7 * 7 }} \0 \ud800"
)
LONG = "averylongwordwithoutanyspaces" * 20


def png(width: int = 40, height: int = 20) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    rows = (b"\0" + b"\x30\x80\xc0" * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"pHYs", struct.pack(">IIB", 5906, 5906, 1))
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def claim(verdict: Verdict = Verdict.HOLDS, text: str = "MCCFR wins.", number: int = 0) -> Claim:
    return Claim(number, text, "0.12 ± 0.02 sb/h", verdict, "the mean is above zero")


def outcome(name: str, claims: list[Claim], **more: object) -> Outcome:
    setting = {
        "seeds": 3,
        "iterations": 1_000_000,
        "C": [1.0, 2.5],
        "deep": {"a": [[[[[1]]]]]},
        "exact": True,
        "none": None,
    }
    return Outcome(
        name, f"Item {name}", "quick", claims, setting, 12.5, [f"{name}.png", f"{name}.csv"], **more
    )  # type: ignore[arg-type]


def save(folder: Path, result: Outcome, width: int = 2400) -> None:
    """The outcome and its files."""
    for file in result.files:
        (folder / file).write_bytes(
            png(width, width // 3) if file.endswith(".png") else b"a,b\n1,2\n"
        )
    result.seal(folder, result_version(no_run)).save(folder)


def no_run(scale: str, store: object, progress: object) -> Outcome:
    raise AssertionError("not to be run")


KNOWN = [
    Experiment(name, f"Item {name}", no_run)
    for name in ("good", "partly", "bad", "none", "broken", "absent")
]


def fill(folder: Path) -> None:
    """Everything that can be in a folder of results."""
    wide = ResultTable(
        "A wide table, sb/h",
        ["opponent", *(f"MCCFR{k}" for k in range(30))],
        [["Poki", *["+0.123 ± 0.006"] * 30]] * 3,
    )
    save(folder, outcome("good", [claim(), claim()], tables=[wide]))
    save(
        folder,
        outcome(
            "partly",
            [claim(number=1), claim(Verdict.FAILS, number=2)],
            notes=["A note that matters."],
        ),
    )
    save(
        folder,
        outcome(
            "bad",
            [claim(Verdict.FAILS, HOSTILE), claim(Verdict.FAILS, LONG)],
            notes=[HOSTILE],
            tables=[ResultTable(HOSTILE, [LONG], [[HOSTILE]])],
        ),
    )
    save(folder, outcome("none", []))
    (folder / "none.png").unlink()
    ExperimentFailure(
        "broken", "Item broken", "quick", f"ValueError: {HOSTILE}", "fig6.py:1 in run", "0.1"
    ).save(folder)
    save(folder, outcome("zz'<&", [claim()]))
    (folder / "zz'<&.png").write_bytes(png()[:-20])
    (folder / "damaged.json").write_bytes(b"\x80{]")
    (folder / "deep.json").write_text("[" * 100_000)
    (folder / "foreign.json").write_text('{"name": "foreign", "answer": 42}')
    (folder / "<script>.json").write_text("{}")


class Page(HTMLParser):
    """What a page consists of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {key: value or "" for key, value in attrs}))
        if tag not in ("meta", "link", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.text += " ".join(data.split()) + " "

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]


def check(path: Path) -> Page:
    """A self-contained page: whole pictures inside, anchors and files that exist, no script,
    nothing from elsewhere."""
    page = Page(path.read_text("utf-8"))
    assert not page.all("script")
    assert [one["href"] for one in page.all("link")] == ["data:,"]
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for attributes in page.all("img"):
        assert attributes["alt"].strip()
        kind, _, data = attributes["src"].partition(",")
        assert kind == "data:image/png;base64"
        assert picture("", base64.b64decode(data, validate=True)).width == int(attributes["width"])
    for attributes in page.all("a"):
        target = attributes["href"]
        if target.startswith("#"):
            assert target[1:] in ids
        else:
            assert target.startswith("./")
            assert (path.parent / unquote(target)).is_file()
    for _, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on")]
    style = path.read_text("utf-8").split("<style>")[1].split("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    return page
