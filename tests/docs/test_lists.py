"""Names of games, solvers, responses and bots in README, docs, help and errors are those of the
registries."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from counterplay.core.base.errors import BadGame
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import GAMES
from counterplay.core.responses.algorithms import RESPONSES
from counterplay.core.solvers.algorithms import ALGORITHMS
from counterplay.poker.abstraction.abstraction import ABSTRACTIONS
from counterplay.poker.bots.registry import BOTS
from counterplay.poker.holdem.game import HoldemRules

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "counterplay"
SOLVERS = ALGORITHMS.built_in()
SAMPLING = {name for name, solver in SOLVERS.items() if solver.sampled}
NAMES = {
    "games": set(GAMES.built_in()),
    "solvers": set(SOLVERS),
    "responses": set(RESPONSES),
    "bots": set(BOTS.built_in()),
    "kinds": set(ABSTRACTIONS.built_in()),
}


def rows(page: str) -> list[list[str]]:
    """Cells of all tables of a page."""
    lines = (ROOT / page).read_text().splitlines()
    return [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]


def code(text: str) -> set[str]:
    """What stands in backticks, without parameters."""
    return {re.split(r"[(:]", word)[0] for word in re.findall(r"`([^`]+)`", text)}


@pytest.mark.parametrize(
    ("row", "names"),
    [
        ("games", NAMES["games"] | {"open_spiel"}),
        ("sampling solvers", SAMPLING),
        ("full-width solvers", NAMES["solvers"] - SAMPLING),
        ("robust responses", NAMES["responses"]),
        ("bots", NAMES["bots"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_readme_lists_what_there_is(row: str, names: set[str]) -> None:
    (cells,) = (cells for cells in rows("README.md") if cells[0].split(",")[0] == row)
    assert code(cells[1]) == names


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        ("docs/explanation/algorithms.md", "solvers"),
        ("docs/explanation/opponents.md", "bots"),
        ("docs/explanation/card-abstractions.md", "kinds"),
    ],
)
def test_the_first_table_of_a_page_has_a_row_for_each(page: str, kind: str) -> None:
    lines = (ROOT / page).read_text().split("|---|", 1)[1].split("\n\n", 1)[0].splitlines()[1:]
    assert set().union(*(code(line.split(" | ")[0]) for line in lines)) == NAMES[kind]


def texts(path: Path) -> Iterator[str]:
    """All strings of a file but its header; the fixed parts of f-strings, joined."""
    tree = ast.parse(path.read_text())
    header = tree.body[0].value if tree.body and isinstance(tree.body[0], ast.Expr) else None
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node is not header:
            yield node.value
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))


def typed_lists(text: str) -> list[str]:
    """Three names of one kind in a row: a list that was typed by hand."""
    found = []
    for names in NAMES.values():
        name = "(?:" + "|".join(re.escape(n) for n in sorted(names, key=len, reverse=True)) + ")"
        between = r"(?:,|;| or| and|, or|, and) "
        row = re.search(rf"(?<![\w-]){name}{between}{name}{between}{name}(?![\w-])", text)
        found += [row[0]] if row else []
    return found


def test_a_typed_list_is_seen() -> None:
    assert typed_lists("take mccfr, mccfr-external or mcts.")
    assert typed_lists("bots: poki, always-call, probe")
    assert not typed_lists("mccfr, mcts")
    assert not typed_lists("match always-call always-raise uniform")


FILES = [path for path in SOURCE.rglob("*.py") if "reproduction" not in path.parts]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_no_text_in_the_code_has_a_list_of_its_own(path: Path) -> None:
    assert [row for text in texts(path) for row in typed_lists(text)] == []


HOW_TO = sorted((ROOT / "docs" / "how-to").glob("*.md"))


@pytest.mark.parametrize("path", HOW_TO, ids=lambda path: path.name)
def test_no_how_to_has_a_list_of_its_own(path: Path) -> None:
    assert typed_lists(path.read_text().replace("`", "")) == []


def test_an_error_about_size_names_all_that_sample() -> None:
    with pytest.raises(BadGame) as error:
        Game("large", HoldemRules(1)).tree  # noqa: B018
    for name in SAMPLING | {"mcrnr", "mcdbr"}:
        assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", str(error.value))
