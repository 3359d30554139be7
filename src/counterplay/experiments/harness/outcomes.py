"""Reading results back. A damaged, foreign or half-written one gives `BadFile`, never a wrong
verdict."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, TypeVar

from counterplay.base import files
from counterplay.base.errors import BadFile
from counterplay.base.version import version
from counterplay.experiments.harness.base import (
    Claim,
    Failure,
    Outcome,
    Reading,
    Sheet,
    checksum,
    failure_path,
)
from counterplay.experiments.harness.judge import Verdict

T = TypeVar("T")
_DAMAGE = (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError)


def read_outcome(path: Path) -> Outcome:
    """What `Outcome.save` wrote."""
    try:
        data = _read(path)
        return Outcome(
            name=_named(data, path.name.removesuffix(".json")),
            title=_a(str, data["title"]),
            scale=_a(str, data["scale"]),
            claims=[_claim(claim) for claim in _a(list, data["claims"])],
            setting={_a(str, key): value for key, value in _a(dict, data["setting"]).items()},
            seconds=_seconds(data["seconds"]),
            files=[_file_name(name) for name in _a(list, data["files"])],
            tables=[_table(table) for table in _a(list, data.get("tables", []))],
            notes=_texts(data.get("notes", [])),
            version=_a(str, data.get("version", "")),
            code=_a(str, data.get("code", "")),
            sums={
                _a(str, key): _a(str, value)
                for key, value in _a(dict, data.get("sums", {})).items()
            },
            date=_a(str, data.get("date", "")),
            machine=_a(str, data.get("machine", "")),
        )
    except _DAMAGE:
        raise BadFile(f"{path.name}: damaged, or not a result of an experiment") from None


def _read(path: Path) -> dict[str, Any]:
    """An object that carries its checksum; one without it was written by nobody here."""
    data, checked = files.read_checked_json(path)
    if not checked:
        raise BadFile(f"{path.name}: has no checksum")
    return data


def read_failure(path: Path) -> Failure:
    """What `Failure.save` wrote."""
    try:
        data = _read(path)
        _named(data, path.name.removesuffix(".failed.json"))
        return Failure(
            *(
                _a(str, data[name])
                for name in ("name", "title", "scale", "message", "where", "version")
            )
        )
    except _DAMAGE:
        raise BadFile(f"{path.name}: damaged, or not a note of a failure") from None


def finished(name: str, scale: str, folder: Path, code: str) -> Outcome | None:
    """The outcome at this scale by this `code`, if all its files are as it left them and no
    later run failed."""
    outcome = earlier(name, folder)
    if outcome is None or failure_path(folder, name).exists():
        return None
    same = outcome.scale == scale and outcome.version == version() and outcome.code == code
    return outcome if same and not changed_files(outcome, folder) else None


def earlier(name: str, folder: Path) -> Outcome | None:
    """Whatever outcome of this experiment there is."""
    try:
        return read_outcome(folder / f"{name}.json")
    except BadFile:
        return None


def changed_files(outcome: Outcome, folder: Path) -> list[str]:
    """Files that are missing, or are not those that the outcome was made with."""
    return [
        file
        for file in outcome.files
        if not outcome.sums.get(file) or checksum(folder / file) != outcome.sums[file]
    ]


def _a(kind: type[T], value: Any) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"expected {kind.__name__}")
    return value


def _named(data: dict[str, Any], stem: str) -> str:
    if data["name"] != stem:
        raise ValueError("another name than that of its file")
    return stem


def _seconds(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value) or value < 0:
        raise ValueError("not a time")
    return float(value)


def _file_name(value: Any) -> str:
    name = _a(str, value)
    if not name or name.startswith(".") or set(name) & set("/\\:\0"):
        raise ValueError("not a plain file name")
    return name


def _texts(value: Any) -> list[str]:
    return [_a(str, text) for text in _a(list, value)]


def _claim(data: Any) -> Claim:
    before = data.get("before")
    return Claim(
        _a(str, data["text"]),
        _a(str, data["rule"]),
        _a(str, data["measured"]),
        _holds(data["holds"]),
        None if before is None else _reading(before),
        tuple(_reading(one) for one in _a(list, data.get("also", []))),
    )


def _reading(data: Any) -> Reading:
    return Reading(_a(str, data["rule"]), _a(str, data["measured"]), _holds(data["holds"]))


def _holds(value: Any) -> Verdict:
    """Yes or no, as all results have it, or None for undecided."""
    return None if value is None else _a(bool, value)


def _table(data: Any) -> Sheet:
    return Sheet(
        _a(str, data["title"]),
        _texts(data["header"]),
        [_texts(row) for row in _a(list, data["rows"])],
    )
