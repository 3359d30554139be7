"""Objects by name: built-in ones, those of installed packages, and those of the user's own files.

A module in one of the `PACKAGES` of a kind that assigns the kind in capitals (`GAME =
GameSpec("kuhn", ...)`, `SOLVER = CFR`, or a tuple of several) registers these objects; nothing else
lists them. Names are read from the source text, and a module is imported when one of its objects is
used. So a name is a literal: the first argument of the call, or the class attribute `name`.
Installed packages (entry points of the group `counterplay.games` and so on) are searched for names
that are not built in, and for lists. A broken one, or one with a built-in name, is left out with a
warning. `file.py:Name` runs the file, as Python does; so only names that a user types are resolved
that way, never a name inside a file (such as a strategy's game).
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import os
import pkgutil
import re
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, NamedTuple, TypeVar

from counterplay.core.base.disk import reason
from counterplay.core.base.errors import BadParameter, CounterplayError, one_line, shown, unknown

T = TypeVar("T")
GROUPS = "counterplay."
_USER_DEFINED = re.compile(r"(?P<file>.+\.py):(?P<word>[A-Za-z_]\w*)(?P<rest>\(.*\))?", re.DOTALL)
_USER_ARGUMENT = re.compile(r"\.py:\s*[A-Za-z_]")
_MODULE = "counterplay_own_"
_LOADING: set[tuple[int, str]] = set()  # threads and the modules that they load
_LITERAL = re.compile(r"^    (\w+)(?:: [\w\[\]. ]+)? = (\".*\"|True|False|[\d.]+)(?: *#.*)?$", re.M)

#: The packages whose modules register objects, by kind.
PACKAGES: dict[str, tuple[str, ...]] = {
    "game": ("counterplay.core.games", "counterplay.poker.holdem", "counterplay.poker.spots"),
    "source": ("counterplay.core.games",),  # of games defined elsewhere, such as files
    "exchange": ("counterplay.core.games",),  # of strategies with other libraries
    "evaluator": (
        "counterplay.core.evaluation",
        "counterplay.poker.vector",
        "counterplay.poker.spots",
    ),
    "solver": ("counterplay.core.solvers", "counterplay.poker.vector"),
    "response": ("counterplay.core.responses",),
    "abstraction": ("counterplay.poker.abstraction",),
    "bot": ("counterplay.poker.bots", "counterplay.poker.adaptive"),
    "experiment": ("counterplay.app.reproduction",),
}


class PackageEntry(NamedTuple):
    """One entry point of an installed package."""

    package: str
    point: metadata.EntryPoint


class BuiltIn(NamedTuple):
    """A built-in object as described by its source text."""

    module: str
    facts: Mapping[str, Any]  # the literal attributes of a class


class Registry(Mapping[str, T], Generic[T]):
    """Built-in objects in the order of their modules, then those of installed packages."""

    def __init__(self, kind: str, fits: Callable[[Any], bool] = lambda spec: True) -> None:
        """`kind`: one of `PACKAGES`. `fits`: whether an object is of this kind."""
        self._kind, self._fits = kind, fits
        self._installed: dict[str, T] = {}
        self._tried: set[PackageEntry] = set()

    def __getitem__(self, name: str) -> T:
        if name not in self:
            raise KeyError(name)
        return self._import(name) if name in self.listing() else self._installed[name]

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        if name not in self.listing():
            self._load_installed(name)
        return name in self.listing() or name in self._installed

    def __iter__(self) -> Iterator[str]:
        self._load_installed()
        return iter([*self.listing(), *self._installed])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def find(self, name: object, what: str | None = None, also: Iterable[str] = ()) -> T:
        """The object with this name, case-insensitively, or the user's `file.py:Name`; else an
        `UnknownName` that lists all names and `also`."""
        if is_user_defined(name):
            return self._user_defined(str(name))
        spec = (self.get(name) or self.get(name.lower())) if isinstance(name, str) else None
        if spec is None:
            raise unknown(what or self._kind, name, [*self, *also])
        return spec

    def listing(self) -> Mapping[str, BuiltIn]:
        """The built-in objects, without importing them."""
        return built_in_objects(self._kind)

    def built_in(self) -> dict[str, T]:
        """The built-in objects."""
        return {name: self._import(name) for name in self.listing()}

    def fact(self, name: str, fact: str, default: Any) -> Any:
        """A class attribute of an object; it is imported only if it is not built in."""
        if name in self.listing():
            return self.listing()[name].facts.get(fact, default)
        return getattr(self[name], fact, default)

    def _import(self, name: str) -> T:
        module = self.listing()[name].module
        specs = getattr(importlib.import_module(module), self._kind.upper())
        for spec in specs if type(specs) is tuple else (specs,):
            if spec.name == name and self._fits(spec):
                found: T = spec
                return found
        raise AssertionError(f"{module}: its text names {name!r}, and no {self._kind} does")

    def _user_defined(self, text: str) -> T:
        """The object `file.py:Name`, which has its own name in this process from now on. Only text
        that the user typed leads here, never the contents of a file."""
        spec: T = user_object(text, self._kind)
        name = str(getattr(spec, "name", ""))
        if not name or not self._fits(spec):
            raise BadParameter(f"{text} is {shown(spec)} and no {self._kind} with a name")
        if name in self.listing():
            raise BadParameter(f"{text} is called {name!r}, as a built-in {self._kind} is")
        self._installed[name] = spec
        return spec

    def _load_installed(self, name: str | None = None) -> None:
        """Loads the entry points of a name, or all of this kind."""
        for entry in package_entries().get(f"{GROUPS}{self._kind}s", ()):
            if name in (None, entry.point.name) and entry not in self._tried:
                self._tried.add(entry)
                self._load(entry)

    def _load(self, entry: PackageEntry) -> None:
        name = entry.point.name
        if name in self.listing():
            problem = "but that is the name of a built-in one"
        elif name in self._installed:
            problem = "but another package has that name"
        else:
            try:
                spec = entry.point.load()
                if self._fits(spec) and spec.name == name:
                    self._installed[name] = spec
                    return
                problem = f"which is {shown(spec)} and no {self._kind} of that name"
            except (Exception, SystemExit) as error:
                problem = f"which cannot be loaded: {one_line(error)}"
        sentence = f"the package {entry.package} offers the {self._kind} {name!r}, {problem}"
        warnings.warn(f"{sentence}; it is left out", stacklevel=2)


@cache
def built_in_objects(kind: str) -> dict[str, BuiltIn]:
    """The built-in objects of a kind, by name, read from the source texts."""
    table: dict[str, BuiltIn] = {}
    for package in PACKAGES[kind]:
        for module, text in _sources(package):
            for name, facts in _assigned(text, kind.upper(), module):
                assert name not in table, f"{module}: {name} is in {table[name].module} too"
                table[name] = BuiltIn(module, facts)
    return table


def _sources(package: str) -> Iterator[tuple[str, str]]:
    """The modules of a package with their source texts."""
    spec = importlib.util.find_spec(package)
    assert spec is not None, f"no package {package}"
    for finder, name, _ in pkgutil.iter_modules(spec.submodule_search_locations):
        module = finder.find_spec(name, None)
        loader: Any = None if module is None else module.loader
        yield f"{package}.{name}", loader.get_source(name) or ""


def _assigned(text: str, variable: str, module: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and literal attributes of each object that a module assigns to `variable`."""
    start = text.find(f"\n{variable} = ")
    if start < 0:
        return
    value = ast.parse(text[start:]).body[0].value  # type: ignore[attr-defined]
    for one in value.elts if isinstance(value, ast.Tuple) else [value]:
        facts = _attributes(one.id, text) if isinstance(one, ast.Name) else {}
        first = one.args[0] if isinstance(one, ast.Call) and one.args else None
        name = first.value if isinstance(first, ast.Constant) else facts.get("name")
        assert isinstance(name, str), f"{module}: {ast.unparse(one)[:60]} has no literal name"
        yield name, facts


def _attributes(name: str, text: str) -> dict[str, Any]:
    """The literal attributes of a class, with those of its bases in the same text."""
    head = re.search(rf"^class {name}\b(?:\(([^)]*)\))?:\n", text, re.MULTILINE)
    if head is None:
        return {}
    facts: dict[str, Any] = {}
    for base in reversed((head[1] or "").split(",")):
        facts |= _attributes(base.strip(), text) if base.strip().isidentifier() else {}
    body = re.match(r"(?:(?: .*)?\n)*", text[head.end() :])
    for attribute, value in _LITERAL.findall(body[0] if body else ""):
        facts[attribute] = ast.literal_eval(value)
    return facts


@cache
def package_entries() -> dict[str, list[PackageEntry]]:
    """The entry points of installed packages, by group; the first copy on the path counts."""
    groups: dict[str, list[PackageEntry]] = {}
    seen = set()
    for package in metadata.distributions():
        try:
            if GROUPS not in (package.read_text("entry_points.txt") or ""):
                continue
            name = str(package.name)
            points = [point for point in package.entry_points if point.group.startswith(GROUPS)]
        except Exception as error:
            where = getattr(package, "_path", "a package")
            warnings.warn(
                f"the entry points in {where} cannot be read: {one_line(error)}; they are left out",
                stacklevel=2,
            )
            continue
        if name not in seen:
            seen.add(name)
            for point in points:
                groups.setdefault(point.group, []).append(PackageEntry(name, point))
    return groups


def package_at_fault(error: BaseException) -> str | None:
    """The installed package in whose code an error arose, if it offers entry points."""
    owner = {
        entry.point.value.partition(":")[0].partition(".")[0]: entry.package
        for group in package_entries().values()
        for entry in group
    }
    modules = [str(names.get("__name__", "")) for names in _raised_in(error)]
    packages = [owner.get(module.partition(".")[0]) for module in reversed(modules)]
    return next(filter(None, packages), None)


def user_file_at_fault(error: BaseException) -> str | None:
    """The user's file in whose code an error arose, where it was named as `file.py:Name`."""
    files = [
        str(names.get("__file__", ""))
        for names in _raised_in(error)
        if str(names.get("__name__", "")).startswith(_MODULE)
    ]
    return files[-1] if files else None


def _raised_in(error: BaseException) -> Iterator[dict[str, Any]]:
    """The globals of every frame of an error's traceback, outermost first."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        yield frame.f_globals


# --- user-defined objects, named by file and class: `my_game.py:MyGame`, `bots.py:Caller`


def is_user_defined(text: object) -> bool:
    """Whether `text` has the form `file.py:Name`."""
    return isinstance(text, str) and _USER_DEFINED.fullmatch(text) is not None


def runs_user_code(name: object) -> bool:
    """Whether loading a game runs a file of the user: its own, or that of an argument."""
    return is_user_defined(name) or (isinstance(name, str) and bool(_USER_ARGUMENT.search(name)))


def split_user_defined(text: str) -> tuple[Path, str, str]:
    """File, name, and the arguments behind it, such as `(3)`."""
    match = _USER_DEFINED.fullmatch(text)
    assert match is not None
    return Path(match["file"]), match["word"], match["rest"] or ""


def user_object(text: str, kind: str) -> Any:
    """The object `file.py:Name`; `kind` names it in errors."""
    path, word, rest = split_user_defined(text)
    if rest and kind != "game":
        raise BadParameter(f"{shown(text)}: a {kind} takes no arguments; write {path}:{word}")
    module = _user_module(path)
    value = getattr(module, word, None)
    if value is None:
        classes = [
            name
            for name, item in vars(module).items()
            if isinstance(item, type) and item.__module__ == module.__name__
        ]
        has = f"it has {', '.join(classes)}" if classes else "it has no class"
        raise BadParameter(f"no {kind} {word} in {path}; {has}")
    return value


def call_user_code(make: Any, text: str, *args: Any, **kwargs: Any) -> Any:
    """Calls a class or function of the user; an error names the line in the user's file."""
    try:
        return make(*args, **kwargs)
    except CounterplayError:
        raise
    except (Exception, SystemExit) as error:
        raise CounterplayError(f"{text}: {user_code_reason(error)}") from None


def _user_module(path: Path) -> ModuleType:
    """The file as a module; it is run again only after a change."""
    if not os.path.isfile(path):
        raise BadParameter(f"no file {path}; write it as file.py:Class, from where you are")
    try:
        place, text = path.resolve(), path.read_bytes()
    except OSError as error:
        raise BadParameter(f"{path} cannot be loaded: {reason(error)}") from None
    name = _MODULE + hashlib.blake2b(os.fsencode(place), digest_size=6).hexdigest()
    module = sys.modules.get(name)
    if module is not None and getattr(module, "_text", None) == text:
        return module
    loading = threading.get_ident(), name
    if loading in _LOADING:
        raise BadParameter(f"{path} names itself while it is loaded")
    spec = importlib.util.spec_from_file_location(name, place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before it runs, as dataclasses need
    if str(place.parent) not in sys.path:
        sys.path.append(str(place.parent))  # for imports of neighbouring files
    _LOADING.add(loading)
    try:
        exec(compile(text, place, "exec"), vars(module))  # an old .pyc may have the same time
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        raise BadParameter(f"{path} cannot be loaded: {user_code_reason(error)}") from None
    finally:
        _LOADING.discard(loading)
    module._text = text  # type: ignore[attr-defined]
    return module


def user_code_reason(error: BaseException) -> str:
    """An error on one line, with the file and line of the user's code that raised it."""
    text = one_line(error)
    if isinstance(error, SyntaxError):
        return text
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if f"{os.sep}counterplay{os.sep}" not in frame.filename
        and not frame.filename.startswith("<frozen")
    ]
    if not frames:
        return text
    return f"{text} (line {frames[-1].lineno} of {os.path.basename(frames[-1].filename)})"


def check_not_user_defined(name: str, where: object, way: str) -> None:
    """Refuses a name from a file that would run code."""
    if runs_user_code(name):
        raise CounterplayError(
            f"{where}: is for {shown(name)}, a game in a file of its own, which is not run "
            f"because another file names it; {way}"
        )
