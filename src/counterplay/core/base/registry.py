"""Things by name: the built-in ones, a file each, and those that installed packages offer by entry
points.

A file of one of the word's `PACKAGES` that sets the word in capitals (`GAME = GameSpec("kuhn",
...)`, `SOLVER = CFR`, or a tuple of several) offers what it names there, and nothing else needs to
know it. Which file has which name is read from the text of the files; a file is imported when
somebody takes what it offers. So a name is written as a literal: the first argument of the call, or
the class attribute `name`. Installed packages (group `counterplay.games` and so on) are asked only
for names that are not built in, and for lists. One that is broken, or takes a built-in name, is
left out with a warning.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from typing import Any, Generic, NamedTuple, TypeVar

from counterplay.core.base.errors import BadParameter, shown, unknown
from counterplay.core.base.user_code import is_user_defined, user_object

T = TypeVar("T")
GROUPS = "counterplay."
LONGEST_REASON = 200  # characters
_LITERAL = re.compile(r"^    (\w+)(?:: [\w\[\]. ]+)? = (\".*\"|True|False|[\d.]+)(?: *#.*)?$", re.M)

#: The packages whose files offer things, by word: the one place that names them.
PACKAGES: dict[str, tuple[str, ...]] = {
    "game": ("counterplay.core.games", "counterplay.poker.holdem"),
    "source": ("counterplay.core.games",),  # of games that are written elsewhere, such as files
    "exchange": ("counterplay.core.games",),  # of strategies with other libraries
    "evaluator": ("counterplay.core.evaluation", "counterplay.poker.vector"),
    "solver": ("counterplay.core.solvers", "counterplay.poker.vector"),
    "response": ("counterplay.core.responses",),
    "abstraction": ("counterplay.poker.abstraction",),
    "bot": ("counterplay.poker.bots", "counterplay.poker.adaptive"),
    "experiment": ("counterplay.app.reproduction",),
}


class Offer(NamedTuple):
    """One line of a package's entry points."""

    package: str
    entry: metadata.EntryPoint


class Listing(NamedTuple):
    """What is known of a built-in thing before its file is imported."""

    module: str
    facts: Mapping[str, Any]  # class attributes that are literals, of a class


class Registry(Mapping[str, T], Generic[T]):
    """Built-in things first, in the order of their files, then those of installed packages."""

    def __init__(self, word: str, fits: Callable[[Any], bool] = lambda spec: True) -> None:
        """`word`: one of `PACKAGES`. `fits`: whether a spec is of this kind."""
        self._word, self._fits = word, fits
        self._installed: dict[str, T] = {}
        self._tried: set[Offer] = set()

    def __getitem__(self, name: str) -> T:
        if isinstance(name, str):
            if name in self.listing():
                return self._built(name)
            self._ask(name)
            if name in self._installed:
                return self._installed[name]
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        if name not in self.listing():
            self._ask(name)
        return name in self.listing() or name in self._installed

    def __iter__(self) -> Iterator[str]:
        self._ask()
        return iter([*self.listing(), *self._installed])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def find(self, name: object, what: str | None = None, also: Iterable[str] = ()) -> T:
        """What has that name, in small letters or not, or what the user wrote as `file.py:Name`;
        else an `UnknownName` that lists all names, and `also`."""
        if is_user_defined(name):
            return self._user_defined(str(name))
        spec = (self.get(name) or self.get(name.lower())) if isinstance(name, str) else None
        if spec is None:
            raise unknown(what or self._word, name, [*self, *also])
        return spec

    def listing(self) -> Mapping[str, Listing]:
        """All that is not from other packages, without importing it."""
        return listed(self._word)

    def built_in(self) -> dict[str, T]:
        """All that is not from other packages."""
        return {name: self._built(name) for name in self.listing()}

    def fact(self, name: str, fact: str, default: Any) -> Any:
        """A class attribute of what has that name; imported only where no text has it."""
        if name in self.listing():
            return self.listing()[name].facts.get(fact, default)
        return getattr(self[name], fact, default)

    def _built(self, name: str) -> T:
        module = self.listing()[name].module
        specs = getattr(importlib.import_module(module), self._word.upper())
        for spec in specs if type(specs) is tuple else (specs,):
            if spec.name == name and self._fits(spec):
                built: T = spec
                return built
        raise AssertionError(f"{module}: its text names {name!r}, and no {self._word} does")

    def _user_defined(self, text: str) -> T:
        """What `file.py:Name` is, which from now on has its name in this process. No file that is
        read leads here: only text that the user typed."""
        spec: T = user_object(text, self._word)
        name = str(getattr(spec, "name", ""))
        if not name or not self._fits(spec):
            raise BadParameter(f"{text} is {shown(spec)} and no {self._word} with a name")
        if name in self.listing():
            raise BadParameter(f"{text} is called {name!r}, as a built-in {self._word} is")
        self._installed[name] = spec
        return spec

    def _ask(self, name: str | None = None) -> None:
        """Load what installed packages offer under a name, or all of it."""
        for offer in offers().get(f"{GROUPS}{self._word}s", ()):
            if name in (None, offer.entry.name) and offer not in self._tried:
                self._tried.add(offer)
                self._load(offer)

    def _load(self, offer: Offer) -> None:
        name = offer.entry.name
        problem = None
        if name in self.listing():
            problem = "but that is the name of a built-in one"
        elif name in self._installed:
            problem = "but another package has that name"
        else:
            try:
                spec = offer.entry.load()
                if self._fits(spec) and spec.name == name:
                    self._installed[name] = spec
                    return
                problem = f"which is {shown(spec)} and no {self._word} of that name"
            except (Exception, SystemExit) as error:
                problem = f"which cannot be loaded: {one_line(error)}"
        sentence = f"the package {offer.package} offers the {self._word} {name!r}, {problem}"
        warnings.warn(f"{sentence}; it is left out", stacklevel=2)


@cache
def listed(word: str) -> dict[str, Listing]:
    """The built-in things of a word, by name, as the texts of their files say."""
    table: dict[str, Listing] = {}
    for package in PACKAGES[word]:
        for module, text in _texts(package):
            for name, facts in _offered(text, word.upper(), module):
                assert name not in table, f"{module}: {name} is in {table[name].module} too"
                table[name] = Listing(module, facts)
    return table


def _texts(package: str) -> Iterator[tuple[str, str]]:
    """The modules of a package, and the texts of their files."""
    spec = find_spec(package)
    assert spec is not None, f"no package {package}"
    for finder, name, _ in pkgutil.iter_modules(spec.submodule_search_locations):
        module = finder.find_spec(name, None)
        loader: Any = None if module is None else module.loader
        yield f"{package}.{name}", loader.get_source(name) or ""


def _offered(text: str, word: str, module: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and facts of each thing that stands behind `word` at the left margin of a text."""
    start = text.find(f"\n{word} = ")
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
    """Attributes of a class that are literals, and those of its bases in the same text."""
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
def offers() -> dict[str, list[Offer]]:
    """What installed packages offer, by group. Of two copies of a package the first on the path
    counts."""
    found: dict[str, list[Offer]] = {}
    seen = set()
    for package in metadata.distributions():
        try:
            if GROUPS not in (package.read_text("entry_points.txt") or ""):
                continue
            name = str(package.name)
            entries = [entry for entry in package.entry_points if entry.group.startswith(GROUPS)]
        except Exception as error:
            where = getattr(package, "_path", "a package")
            warnings.warn(
                f"the entry points in {where} cannot be read: {one_line(error)}; they are left out",
                stacklevel=2,
            )
            continue
        if name not in seen:
            seen.add(name)
            for entry in entries:
                found.setdefault(entry.group, []).append(Offer(name, entry))
    return found


def package_at_fault(error: BaseException) -> str | None:
    """The installed package in whose code an error arose, if it is one that offers something."""
    owner = {
        offer.entry.value.partition(":")[0].partition(".")[0]: offer.package
        for group in offers().values()
        for offer in group
    }
    step = error.__traceback__
    found = None
    while step is not None:
        module = str(step.tb_frame.f_globals.get("__name__", ""))
        found = owner.get(module.partition(".")[0], found)
        step = step.tb_next
    return found


def one_line(error: BaseException) -> str:
    """What went wrong, for a sentence."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= LONGEST_REASON else f"{text[:LONGEST_REASON]}..."
