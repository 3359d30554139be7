"""The page of an exam, as HTML and JSON."""

from __future__ import annotations

import math
from html import escape
from pathlib import Path
from typing import Any

from counterplay.core.base import display, files
from counterplay.core.base.disk import write_bytes
from counterplay.poker.exam.exact import Grade
from counterplay.poker.exam.result import Exam, ExamRow

PAGE, DATA = "exam.html", "exam.json"
WIDTH, ROW, LEFT = 760, 26, 130  # of the picture of intervals, in pixels
#: On light and on dark pages.
COLOURS = {"wins": "#2a9457", "loses": "#d9534f", "even": "#3b82c4", "not clear": "#7b8591"}
MOST_DECISIONS = 30  # in the table
MOST_LETTERS = 18  # of an opponent in the picture
_STYLE = """
:root { color-scheme: light dark; --ink: #1c2126; --soft: #56606b; --line: #d9dee3; --page: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ec; --soft: #a3adb7; --line: #3a434c; --page: #14181c; }
}
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: var(--ink);
  background: var(--page); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; } h2 { font-size: 1.15rem; margin: 1.6rem 0 .4rem; }
p { margin: .4rem 0; max-width: 48rem; } .soft { color: var(--soft); }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th { text-align: left; border-bottom: 1px solid var(--line); }
td, th { padding: .15rem .8rem .15rem 0; font-variant-numeric: tabular-nums; }
svg { max-width: 100%; height: auto; }
"""


def save(result: Exam | Grade, folder: Path) -> tuple[Path, Path]:
    """Writes the page and the data into a folder; returns both paths."""
    paths = folder / PAGE, folder / DATA
    folder.mkdir(parents=True, exist_ok=True)
    text = page(result).encode(errors="backslashreplace")  # names of files may be no text
    write_bytes(paths[0], text)
    files.write_json(paths[1], display.finite(result.facts()))
    return paths


def body(result: Exam | Grade) -> str:
    """The page without its head, as a notebook shows it."""
    title, text = _of_matches(result) if isinstance(result, Exam) else _of_decisions(result)
    return f"<h1>{escape(title)}</h1>{text}"


def page(result: Exam | Grade) -> str:
    """The page as HTML, without links to anything else."""
    title = f"Exam of {result.player}"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        f"{body(result)}</body></html>\n"
    )


def _of_matches(exam: Exam) -> tuple[str, str]:
    rows = [
        (row.opponent, _unbroken(row.verdict), f"{row.mean:+.4f}", _unbroken(row.interval),
         "–" if row.needed is None else f"{row.needed:,}", row.hands, f"{row.raw:+.4f}",
         "–" if row.most is None else f"{row.most:+.4f}")
        for row in exam.rows
    ]  # fmt: skip
    header = ("opponent", "verdict", "sb/h", "95%, at all times", "clear after", "hands",
              "with luck", "a best response wins")  # fmt: skip
    facts: dict[str, Any] = {
        "exploitability, b1 + b2": f"{_exploitability(exam)} ({exam.exploitability_note})",
        "time of an action": f"{exam.mean_ms:.3g} ms on average, 99% within {exam.slow_ms:.3g} ms, "
        f"at most {exam.most_ms:.3g} ms",
        "illegal actions": f"{exam.illegal:,} of {exam.actions:,}, played as calls",
        "its own mixing": exam.mixing,
        "seed": exam.seed,
        "seconds": round(exam.seconds, 1),
        "counterplay": exam.version,
    }
    note = (
        f"Limit hold'em, at most {exam.hands:,} hands against each opponent, every deal in both "
        f"seats; luck-adjusted (AIVAT with imaginary observations). A match ends when its interval "
        f"excludes 0 or lies within {exam.margin:g} sb/h of it; the interval holds at all times of "
        f"a match together with probability {exam.level:.0%}, one match at a time."
    )
    why = f" {exam.failure}" if exam.failure else ""
    stopped = f"<p><strong>Stopped before all was done.{escape(why)}</strong></p>"
    text = (
        f'<p class="soft">{escape(note)}</p>{stopped if exam.stopped else ""}'
        f"<h2>Winnings</h2>{_intervals(exam.rows)}{display.table(header, rows)}"
        f"<h2>The player</h2>{display.facts(facts)}"
    )
    return f"Exam of {exam.player}", text


def _unbroken(text: str) -> str:
    """A text that stays on one line."""
    return text.replace(" ", "\u00a0")


def _tick(number: float) -> str:
    return f"{number:+.2g}" if number else "0"


def _short(name: str) -> str:
    return name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 1]}…"


def _exploitability(exam: Exam) -> str:
    return "not known" if exam.exploitability is None else f"{exam.exploitability:.4f} sb/h"


def _intervals(rows: tuple[ExamRow, ...]) -> str:
    """The intervals as an SVG picture."""
    ends = [abs(end) for row in rows for end in (row.low, row.high) if math.isfinite(end)]
    most = max([0.1, *ends])
    middle, scale = (WIDTH + LEFT) / 2, (WIDTH - LEFT - 20) / 2 / most
    height = ROW * len(rows) + 34
    lines = [
        f'<line x1="{middle}" x2="{middle}" y1="4" y2="{height - 26}" stroke="#9aa5b1"/>',
        *(
            f'<text x="{middle + tick * scale:.1f}" y="{height - 8}" font-size="12" '
            f'text-anchor="{anchor}" fill="currentColor">{_tick(tick)} sb/h</text>'
            for tick, anchor in ((-most, "start"), (0.0, "middle"), (most, "end"))
        ),
    ]
    for k, row in enumerate(rows):
        y = ROW * k + 18
        low, high = (
            middle + scale * (end if math.isfinite(end) else math.copysign(most, end))
            for end in (row.low, row.high)
        )
        colour = COLOURS[row.verdict]
        lines.append(
            f'<text x="0" y="{y + 4}" font-size="13" fill="currentColor">'
            f"{escape(_short(row.opponent))}</text>"
            f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}" stroke="{colour}" '
            f'stroke-width="3"/><circle cx="{middle + scale * row.mean:.1f}" cy="{y}" r="4.5" '
            f'fill="{colour}"/>'
        )
    return (
        f'<svg width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="winnings and intervals">{"".join(lines)}</svg>'
    )


def _of_decisions(grade: Grade) -> tuple[str, str]:
    header = ("player", "information set", "plays", "best", "lost to the equilibrium",
              "lost to a best response", "comes here", "illegal")  # fmt: skip
    rows = [
        (one.player + 1, one.infoset, _shares(one.answer), one.best,
         f"{one.loss_equilibrium:.5f}", f"{one.loss_best_response:.5f}", f"{one.reach:.4f}",
         one.illegal)
        for one in grade.worst()[:MOST_DECISIONS]
    ]  # fmt: skip
    facts: dict[str, Any] = {
        "lost to the equilibrium, both seats": f"{grade.loss_equilibrium:.6g}",
        "payoff as player 1, as player 2": f"{grade.values[0]:.6g}, {grade.values[1]:.6g}",
        "value of the game to player 1": f"{grade.game_value:.6g}",
        "lost to a best response, both seats": f"{grade.loss_best_response:.6g}",
        "exploitability, b1 + b2": f"{grade.exploitability:.6g}",
    }
    if grade.asked:
        facts["illegal answers"] = f"{grade.illegal:,} of {grade.asked:,}, played as checks, calls"
        facts["time of an answer"] = f"{grade.mean_ms:.3g} ms"
    facts["counterplay"] = grade.version
    note = (
        "Exact, per game. The loss of a decision is that of its actions against the best one, if "
        "play is best from then on, times the probability to come there; the losses of all "
        "decisions add up to what the player wins less than a best response to that opponent."
    )
    text = (
        f'<p class="soft">{escape(note)}</p>{display.facts(facts)}<h2>Decisions, the costliest '
        f"first</h2>{display.table(header, rows, len(grade.decisions))}"
    )
    return f"Exam of {grade.player} in {grade.game}", text


def _shares(answer: dict[str, float]) -> str:
    return ", ".join(f"{action} {share:.2f}" for action, share in answer.items() if share > 0.0)
