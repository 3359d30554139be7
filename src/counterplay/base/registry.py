"""Things by name: the built-in ones, a file each, and those that installed packages offer by entry
points.

A file of the registry's folder that sets its word in capitals (`GAME = GameSpec(...)`, or a tuple
of several) is found, and nothing else needs to know it. Files are imported one by one until a name
is found. Installed packages (group `counterplay.games` and so on) are asked only for names that are
not built in, and for lists. One that is broken, or takes a built-in name, is left out with a
warning.
"""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from importlib import metadata
from typing import Any, Generic, NamedTuple, TypeVar

from counterplay.base.errors import shown, unknown

T = TypeVar("T")
GROUPS = "counterplay."
LONGEST_REASON = 200  # characters


class Offer(NamedTuple):
    """One line of a package's entry points."""

    package: str
    entry: metadata.EntryPoint


class Registry(Mapping[str, T], Generic[T]):
    """Built-in things first, in the order of their files, then those of installed packages."""

    def __init__(
        self, word: str, folder: str, fits: Callable[[Any], bool], elsewhere: Iterable[str] = ()
    ) -> None:
        """`word`: "game". `fits`: whether a spec is of this kind. `elsewhere`: modules outside
        of the folder."""
        self._word, self._folder, self._fits = word, folder, fits
        self._elsewhere = tuple(elsewhere)
        self._read: dict[str, dict[str, T]] = {}  # by module
        self._installed: dict[str, T] = {}
        self._tried: set[Offer] = set()

    def __getitem__(self, name: str) -> T:
        if isinstance(name, str):
            found = self._find_built_in(name)
            if found is None:
                self._ask(name)
                found = self._installed.get(name)
            if found is not None:
                return found
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        self._ask()
        return iter([*self.built_in(), *self._installed])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def find(self, name: object, what: str | None = None, also: Iterable[str] = ()) -> T:
        """What has that name, in small letters or not, else an `UnknownName` that lists all names,
        and `also`."""
        found = (self.get(name) or self.get(name.lower())) if isinstance(name, str) else None
        if found is None:
            raise unknown(what or self._word, name, [*self, *also])
        return found

    def built_in(self) -> dict[str, T]:
        """All that is not from other packages."""
        found: dict[str, T] = {}
        for module in self._modules:
            specs = self._read_module(module)
            assert not found.keys() & specs, f"{module}: {', '.join(specs)} is in another file too"
            found |= specs
        return found

    @cached_property
    def _modules(self) -> list[str]:
        place = importlib.import_module(self._folder).__path__
        inside = [f"{self._folder}.{module.name}" for module in pkgutil.iter_modules(place)]
        return [*inside, *self._elsewhere]

    def _find_built_in(self, name: str) -> T | None:
        """Reads files until the name is found, one that is called so first."""
        for module in sorted(self._modules, key=lambda m: m != f"{self._folder}.{name}"):
            found = self._read_module(module).get(name)
            if found is not None:
                return found
        return None

    def _read_module(self, module: str) -> dict[str, T]:
        if module not in self._read:
            specs = getattr(importlib.import_module(module), self._word.upper(), ())
            several = specs if isinstance(specs, tuple) else (specs,)
            self._read[module] = {spec.name: spec for spec in several if self._fits(spec)}
        return self._read[module]

    def _ask(self, name: str | None = None) -> None:
        """Load what installed packages offer under a name, or all of it."""
        for offer in offers().get(f"{GROUPS}{self._word}s", ()):
            if name in (None, offer.entry.name) and offer not in self._tried:
                self._tried.add(offer)
                self._load(offer)

    def _load(self, offer: Offer) -> None:
        name = offer.entry.name
        problem = None
        if name in self.built_in():
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
