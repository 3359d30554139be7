"""The report: what it says, that it needs nothing but itself, and that it is readable in a
browser, narrow and wide."""

from __future__ import annotations

import ast
import html
import importlib
import json
import re
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest
from support.report import KNOWN, check, claim, fill, no_run, outcome, png, save

from counterplay.app.reproduction.harness.base import changed_files, finished_outcome, read_outcome
from counterplay.app.reproduction.harness.judge import ARTICLE, Verdict
from counterplay.app.reproduction.harness.report import (
    RECREATIONS,
    meaning,
    picture,
    write_report,
)
from counterplay.app.reproduction.harness.reproduce import experiments
from counterplay.app.reproduction.harness.store import result_version
from counterplay.app.reproduction.players import RECREATED
from counterplay.core.base import files
from counterplay.core.base.errors import BadFile, CounterplayError

CHROMIUM = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    ),
    None,
)


def test_an_empty_folder_gives_a_page_that_says_so(tmp_path: Path) -> None:
    page = check(write_report(tmp_path / "new", KNOWN))
    assert "27 claims: 0 hold, 0 in part, 0 fail, 27 open" in page.text
    assert page.text.count("Not run.") == 27
    assert page.text.count(" not run ") == len(KNOWN)
    assert "counterplay reproduce good" in page.text


def test_verdicts_claims_settings_and_notes_are_on_the_page(tmp_path: Path) -> None:
    fill(tmp_path)
    page = check(write_report(tmp_path, KNOWN))
    assert "27 claims: 1 hold, 0 in part, 1 fail, 25 open" in page.text
    badges = [
        one["class"].split()[1]
        for one in page.all("span")
        if one.get("class", "").startswith("badge")
    ]
    assert badges[:27] == ["holds", "fails"] + ["open"] * 25
    assert badges[27:] == [
        *("holds", "holds"),  # good
        *("holds", "fails"),  # partly
        *("fails", "fails"),  # bad
        *("failed", "not-run", "holds"),
    ]
    for text in (
        "MCCFR wins.",
        "the mean is above zero",
        "0.12 ± 0.02",
        "1,000,000",
        "1, 2.5",
        "A note that matters.",
        "12 s",
        "Poki",
    ):
        assert text in page.text
    assert page.text.count(RECREATIONS) == 1  # in the one result that names Poki
    assert len(page.all("img")) == 3
    links = {one["href"] for one in page.all("a")}
    assert {"./good.csv", "./good.png", "./zz%27%3C%26.csv"} <= links


def test_what_is_missing_or_damaged_is_said(tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / "good.png").write_bytes(png(10))  # whole, but of another run
    page = check(write_report(tmp_path, KNOWN))
    for name in ("damaged.json", "deep.json", "foreign.json", "<script>.json"):
        assert f"Left out: {name}: damaged, or not a result" in page.text
    assert "none.png is missing" in page.text
    assert "zz'<&.png is not the file this verdict was made with" in page.text
    assert "good.png is not the file" in page.text
    assert "The last run (quick scale) failed: ValueError" in page.text


def test_hostile_text_stays_text_and_no_path_of_this_machine_is_shown(tmp_path: Path) -> None:
    fill(tmp_path)
    path = write_report(tmp_path, KNOWN)
    page = check(path)
    assert "alert(1)" in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert str(tmp_path) not in path.read_text()
    assert str(Path.home()) + "/" not in path.read_text()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", "other"),
        ("claims", None),
        ("claims", [{"text": "x"}]),
        ("claims", [["x"]]),
        ("claims", [{**asdict(claim()), "verdict": "perhaps"}]),
        ("claims", [{**asdict(claim()), "number": "1"}]),
        ("claims", [{**asdict(claim()), "number": 28}]),
        ("seconds", "long"),
        ("seconds", -1),
        ("seconds", True),
        ("seconds", float("nan")),
        ("seconds", 10**400),
        ("files", ["../../etc/passwd"]),
        ("files", ["/etc/passwd"]),
        ("files", [".."]),
        ("files", [""]),
        ("setting", []),
        ("tables", [{"title": 1, "header": [], "rows": []}]),
        ("notes", "x"),
        ("sums", {"a": 1}),
    ],
)
def test_a_result_of_another_shape_is_refused(tmp_path: Path, key: str, value: object) -> None:
    save(tmp_path, outcome("good", [claim()]))
    path = tmp_path / "good.json"
    files.write_json(path, files.read_json(path) | {key: value})
    with pytest.raises(BadFile, match=r"good\.json: damaged"):
        read_outcome(path)
    assert "Left out: good.json" in check(write_report(tmp_path, KNOWN)).text


def test_a_result_reads_back_as_it_was(tmp_path: Path) -> None:
    save(tmp_path, outcome("good", [claim(), claim(Verdict.FAILS)], notes=["n"]))
    back = read_outcome(tmp_path / "good.json")
    code = result_version(no_run)
    assert back == outcome("good", [claim(), claim(Verdict.FAILS)], notes=["n"]).seal(
        tmp_path, code
    )
    assert finished_outcome("good", "quick", tmp_path, code) == back
    assert finished_outcome("good", "quick", tmp_path, "other code") is None
    assert finished_outcome("good", "paper", tmp_path, code) is None
    (tmp_path / "good.csv").write_text("something else")
    assert changed_files(back, tmp_path) == ["good.csv"]
    assert finished_outcome("good", "quick", tmp_path, code) is None


def test_a_picture_cut_off_anywhere_is_noticed() -> None:
    whole = png()
    assert picture("a.png", whole).width == 40
    for length in range(len(whole)):
        with pytest.raises(ValueError, match=r"PNG|cut|damaged"):
            picture("a.png", whole[:length])


def test_a_folder_that_cannot_be_written_gives_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CounterplayError, match="cannot write"):
        write_report(tmp_path / "file", KNOWN)


PROBE = """<script>
const root = document.documentElement;
window.addEventListener("error", event => root.setAttribute("data-error", event.message || "resource"), true);
window.addEventListener("load", () => {
  const all = selector => [...document.querySelectorAll(selector)];
  const outside = e => !e.closest(".box") && e.getBoundingClientRect().right > innerWidth + 1;
  root.setAttribute("data-probe", JSON.stringify({
    inner: innerWidth, scroll: Math.max(root.scrollWidth, document.body.scrollWidth),
    images: document.images.length, broken: [...document.images].filter(i => !i.complete || !i.naturalWidth).length,
    wide: all("main *").filter(outside).map(e => e.className || e.tagName),
    small: all("p, td, dd, li").filter(e => parseFloat(getComputedStyle(e).fontSize) < 13).length,
  }));
});
</script>"""
FRAME = """<!DOCTYPE html><body style="margin: 0"><iframe src="report.html" width="WIDTH" height="900" frameborder="0"></iframe>
<script>onload = () => {
  const root = frames[0].document.documentElement;
  document.body.title = JSON.stringify([root.getAttribute("data-probe"), root.getAttribute("data-error")]);
}</script>"""
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--allow-file-access-from-files",
    "--enable-logging=stderr",
    "--window-size=1500,1000",
    "--virtual-time-budget=5000",
    "--dump-dom",
)


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")
@pytest.mark.parametrize("width", [400, 1400])
def test_in_a_browser_nothing_is_missing_and_nothing_sticks_out(tmp_path: Path, width: int) -> None:
    fill(tmp_path)
    page = write_report(tmp_path, KNOWN)
    page.write_text(page.read_text().replace("<head>", f"<head>{PROBE}"))
    # a window of Chromium is never narrower than 500 px, a frame can be
    frame = tmp_path / "frame.html"
    frame.write_text(FRAME.replace("WIDTH", str(width)))
    command = [str(CHROMIUM), *OPTIONS, f"--user-data-dir={tmp_path / 'profile'}", frame.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert "CONSOLE" not in done.stderr, done.stderr
    title = re.search(r'<body [^>]*title="([^"]*)"', done.stdout)
    assert title, done.stdout
    probe, error = json.loads(html.unescape(title[1]))
    assert error is None
    seen = json.loads(probe)
    assert seen.pop("scroll") <= width
    assert seen == {"inner": width, "images": 3, "broken": 0, "wide": [], "small": 0}


def test_date_machine_and_version_are_on_the_page(tmp_path: Path) -> None:
    save(tmp_path, outcome("good", [claim()]))
    back = read_outcome(tmp_path / "good.json")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", back.date)
    assert "Python 3" in back.machine
    page = check(write_report(tmp_path, KNOWN))
    for text in (back.date, back.machine.split(",")[0], f"version {back.version}"):
        assert text in page.text
    data = json.loads((tmp_path / "good.json").read_text())
    del data["date"], data["machine"], data["file_checksum"]  # as versions before left it
    files.write_json(tmp_path / "good.json", data)
    assert "no date recorded" in check(write_report(tmp_path, KNOWN)).text


def test_no_note_is_shown_twice_and_claims_are_counted(tmp_path: Path) -> None:
    for name in ("good", "partly"):
        claims = [claim(), claim(Verdict.OPEN)]
        save(tmp_path, outcome(name, claims, notes=["Said of both.", f"Of {name}.", "Of Poki."]))
    page = check(write_report(tmp_path, KNOWN))
    for note in ("Said of both.", "Of good.", "Of partly.", "Of Poki.", RECREATIONS):
        assert page.text.count(note) == 1
    assert page.text.count("1 hold, 0 in part, 0 fail, 1 open") == 2


def test_re_creations_are_said_once_in_whatever_words(tmp_path: Path) -> None:
    save(tmp_path, outcome("good", [claim()], notes=[RECREATED]))
    page = check(write_report(tmp_path, KNOWN))
    assert RECREATED in page.text
    assert page.text.count("re-creations") == 1


def _settings(path: Path) -> set[str]:
    """Keys that a file of an experiment writes as settings, where they stand as text."""
    tree = ast.parse(path.read_text())
    dicts = [
        call.args[3]
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "outcome"
    ]
    names = {node.id for node in dicts if isinstance(node, ast.Name)}
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(getattr(target, "id", "") in names for target in targets):
            dicts.append(node.value)  # type: ignore[attr-defined]
    keys = [key for node in dicts if isinstance(node, ast.Dict) for key in node.keys]
    return {str(key.value) for key in keys if isinstance(key, ast.Constant)}


def test_every_setting_of_every_experiment_is_explained() -> None:
    """By the file of the experiment itself, or as what several share."""
    asked = 0
    for experiment in experiments().values():
        module = importlib.import_module(experiment.run.__module__)
        names = _settings(Path(str(module.__file__)))
        asked += bool(names)
        scales = getattr(module, "SCALES", None) or getattr(module, "SIZES", {})
        names |= set(getattr(next(iter(scales.values()), None), "_fields", ()))
        assert names
        assert {name for name in names if not meaning(name, [experiment])} == set()
    assert asked >= 8
    assert meaning("MCRNR100, outcome, for poki", [])


def test_every_experiment_is_explained() -> None:
    stories = {name: one.story.partition("\n\n") for name, one in experiments().items()}
    assert all(meaning for _, _, meaning in stories.values())
    assert all(stories[one.experiment][0] for one in ARTICLE.values())


def test_tables_become_lists_on_a_narrow_screen(tmp_path: Path) -> None:
    """Every cell knows its column, which stands before it where there is no room for columns."""
    fill(tmp_path)
    text = write_report(tmp_path, KNOWN).read_text()
    cells = re.findall(r"<td([^>]*)>", text[text.index('<table class="data">') :])
    assert cells
    assert all(cell.startswith(" data-label=") for cell in cells)
    assert "content: attr(data-label)" in text
