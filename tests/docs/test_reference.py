"""The reference pages say what the code says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

import counterplay as cp

ROOT = Path(__file__).parent.parent.parent
SCRIPT = ROOT / "tools" / "make_reference.py"


def _script() -> Any:
    spec = importlib.util.spec_from_file_location("make_reference", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def script() -> Any:
    return _script()


@pytest.mark.parametrize("name", ["api.md", "cli.md"])
def test_page_is_up_to_date(name: str, script: Any) -> None:
    written = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert written == script.PAGES[name](), "out of date: run python tools/make_reference.py"


def test_every_public_name_and_command_is_there(script: Any) -> None:
    api, cli = script.api_page(), script.cli_page()
    for name in cp.__all__:
        assert f"### {name}\n" in api
    for command in (
        "games",
        "solve",
        "respond",
        "frontier",
        "evaluate",
        "match",
        "model",
        "show",
        "reproduce",
        "holdem prepare",
        "acpc play",
        "acpc deal",
        "acpc bots",
    ):
        assert f"## counterplay {command}\n" in cli


def test_groups_name_only_what_exists(script: Any) -> None:
    listed = [name for names in script.GROUPS.values() for name in names]
    assert len(listed) == len(set(listed))
    assert set(listed) <= set(cp.__all__)
