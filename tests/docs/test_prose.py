"""Measured numbers in sentences and tables of README and docs are not typed by hand: they stand
between the marks that `tools/make_results.py` fills, or `not_measured.txt` says what they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
MADE = ("results", "reference")  # written whole by scripts, and compared by other tests
PAGES = [
    ROOT / "README.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name not in MADE),
]
LIST = Path(__file__).with_name("not_measured.txt")

NOT_PROSE = [
    r"```.*?```",  # code, of which test_docs.py runs what can be run
    r"<!-- numbers [\w-]+ -->.*?<!-- end -->",
    r"<!-- n [\w-]+ -->.*?<!-- /n -->",
    r"`(?:[^`\n]|\n(?!\n))+`",  # code that a line may end in
    r"\$\$.*?\$\$",
    r"\]\([^)]*\)",  # where a link leads
]
FREE = [
    r"(?:\b(?:p|Pconf|C|T)|ε) = [\d.,]*\d",  # a setting
    r"95%",  # what intervals are
    r"\b[\d.]+\.\d+\.\d+\b",  # a version, a section
    r"\b[A-Za-z]\w*\.\d+\b",  # C4.5
]
TIME, SIZE = r"(?:[nµm]?s|seconds?|minutes?|hours?|days)", r"[kMGT]B"
RATE = r"(?:\w+ ){0,2}(?:\w+/s|per second)"
MEASURED = re.compile(
    "|".join(
        [
            r"(?<![\w.])\d*\.\d+",
            r"\de-?\d",
            r"\d ?%",
            r"± ?\d",
            r"(?<![\w)])[+-]\d+(?![\d/])",
            rf"(?<![\w.,])\d[\d,]* ?(?:{TIME}|{SIZE}|{RATE}|times)\b",
        ]
    )
)


def allowed() -> list[tuple[str, str]]:
    """Page and words, line by line."""
    lines = [line.split("  #")[0] for line in LIST.read_text(encoding="utf-8").splitlines()]
    pairs = [line.partition(": ") for line in lines if line and not line.startswith("#")]
    return [(page, words.strip()) for page, _, words in pairs]


def flat(text: str) -> str:
    """Prose and tables by hand on one line, everything else taken out."""
    for pattern in NOT_PROSE:
        text = re.sub(pattern, "¦", text, flags=re.DOTALL)
    return " ".join(text.split())


def measured(text: str, known: list[str]) -> list[str]:
    """Numbers that look measured, each with what stands around it."""
    text = flat(text)
    for words in known:
        text = text.replace(words, "¦")
    for pattern in FREE:
        text = re.sub(pattern, "¦", text)
    return [text[max(0, m.start() - 40) : m.end() + 20] for m in MEASURED.finditer(text)]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_no_number_is_typed_by_hand(page: Path) -> None:
    name = _name(page)
    known = [words for where, words in allowed() if where in (name, "any")]
    found = [] if "all of it" in known else measured(page.read_text(encoding="utf-8"), known)
    assert found == [], "bind them (tools/number_cells.py), leave them out, or say what they are"


@pytest.mark.parametrize(
    "sentence",
    [
        "A response won +0.33 from Poki.",
        "It loses 0.52 sb/h\nin its first hands.",
        "It is .287 a hand.",
        "It takes 12 minutes, or 3\nhours.",
        "It takes some 20 µs a hand.",
        "They run 5 million hands/s.",
        "It walks 4,000 boards per second.",
        "They are off by some 5%.",
        "Off by 3e-13.",
        "It wins +8 more, ± 3.",
        "It is 40 times as fast, and needs 2.7 GB.",
        "| `rwywe` | .3636 | .287 |",
    ],
)
def test_a_measured_number_is_seen(sentence: str) -> None:
    assert measured(sentence, [])


@pytest.mark.parametrize(
    "sentence",
    [
        "Of 1,000 hands with 10 buckets, a 95% interval; Figure 4, JAIR 42 (2011).",
        "Weka 3.9.7 has C4.5; Section 3.2.3 of 0.1.0, p = 0.75, ε = 0.6.",
        "It is <!-- n some-key -->0.33<!-- /n --> sb/h, `--p 0.75`, -1/18 and 4 · rank + suit.",
        "```text\n0.52 sb/h\n```\n<!-- numbers some -->\n| 0.52 |\n<!-- end -->",
        "See [the table](page.md#0.5-seconds), 2-3 pages, exit code 1.",
    ],
)
def test_other_numbers_are_free(sentence: str) -> None:
    assert measured(sentence, []) == []


def test_what_is_allowed_is_there() -> None:
    """Words that a page no longer has are taken off the list."""
    texts = {_name(page): flat(page.read_text("utf-8")) for page in PAGES}
    for page, words in allowed():
        text = " ".join(texts.values()) if page == "any" else texts[page]
        assert words in text or words == "all of it", f"{page}: {words}"


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_a_mark_begins_no_line(page: Path) -> None:
    """Markdown would take the line for HTML and end the paragraph before it."""
    assert not re.search(r"^[ >*-]*<!-- /?n\b", page.read_text(encoding="utf-8"), re.MULTILINE)
