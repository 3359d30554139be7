"""The version of the release, and of the source files that a result depends on."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]
LIBRARIES = ("numba", "numpy", "scipy")  # that results depend on
LENGTH = 16  # hex digits of a version of the code
_IMPORT = re.compile(
    rb"^\s*(?:from|import) +(counterplay[\w.]*)(?: +import +(\([^)]*\)|[^\n#]*))?", re.MULTILINE
)
_COMMENT = re.compile(rb"#[^\n]*")


def version() -> str:
    """The installed version of Counterplay, or that of the source tree it runs from."""
    try:
        return installed_version("counterplay")
    except PackageNotFoundError:
        project = PACKAGE.parent.parent / "pyproject.toml"
        text = project.read_text("utf-8") if project.is_file() else ""
        found = re.search(r'^version = "(.+)"$', text, re.MULTILINE)
        return found[1] if found else "unknown"


@cache
def code_hash() -> str:
    """A hash of every source file; the workers of a cluster must agree on it."""
    return hash_sources(sorted(PACKAGE.rglob("*.py")), PACKAGE)[:8]


@cache
def code_version(*modules: str) -> str:
    """The version of the code in `modules` ("counterplay.poker.cards.strength"; a package stands
    for all of its files), of their imports and of the libraries. `base` is left out: no number
    comes from it."""
    roots = [path for name in modules for path in _files_of(PACKAGE, name)]
    files = imported_files(PACKAGE, roots)
    base = PACKAGE / "core" / "base"
    return hash_files([path for path in files if base not in path.parents], PACKAGE)


def hash_files(paths: Iterable[Path], package: Path) -> str:
    """The version of source files and of the libraries."""
    return hash_sources(paths, package, " ".join(map(_installed, LIBRARIES)))[:LENGTH]


def hash_sources(paths: Iterable[Path], package: Path, first: str = "") -> str:
    """A hash of the names and contents of source files, and of `first`."""
    digest, above = hashlib.sha256(first.encode()), f"{package.as_posix()}/"
    for path in paths:
        place = path.as_posix()
        name = place.removeprefix(above) if place.startswith(above) else path.name
        text = path.read_bytes()
        digest.update(f"\n{name} {len(text)}\n".encode() + text)
    return digest.hexdigest()


@cache
def _installed(library: str) -> str:
    return installed_version(library)


def imported_files(package: Path, roots: Iterable[Path]) -> list[Path]:
    """`roots` and all files of the package that they import, directly or not."""
    waiting, files = list(roots), set[Path]()
    while waiting:
        path = waiting.pop()
        if path not in files and path.suffix == ".py" and path.is_file():
            files.add(path)
            waiting += _named_imports(package, path.read_bytes())
    return sorted(files)


def _named_imports(package: Path, source: bytes) -> set[Path]:
    """Files and folders of the package that the import lines of a source file name."""
    places = set[Path]()
    for module, names in _IMPORT.findall(source):
        places |= _places(package, module.decode())
        for name in _COMMENT.sub(b"", names).decode().strip("()").split(","):
            places |= _places(package, f"{module.decode()}.{name.split(' as ')[0].strip()}")
    return places


@cache
def _places(package: Path, name: str) -> set[Path]:
    """The possible locations of an imported name: a file, a folder, or the file above."""
    place = package.joinpath(*name.split(".")[1:])
    return {place, place.parent, place.with_suffix(".py"), place / "__init__.py"} - {
        package / "__init__.py"
    }


def _files_of(package: Path, module: str) -> list[Path]:
    if module.partition(".")[0] != "counterplay":  # of another package, already loaded
        file = getattr(sys.modules.get(module), "__file__", None)
        return [Path(file)] if file else []
    place = package.joinpath(*module.split(".")[1:])
    return sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
