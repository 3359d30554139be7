"""Things of the user's own, named by file and word: `my_game.py:MyGame`, `bots.py:Caller`.

Naming a file runs it, as Python does. So only what a user types is looked up here; a name that
stands in a file (a strategy's game) never is.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from counterplay.core.base.disk import reason
from counterplay.core.base.errors import BadParameter, CounterplayError, shown

_NAME = re.compile(r"(?P<file>.+\.py):(?P<word>[A-Za-z_]\w*)(?P<rest>\(.*\))?", re.DOTALL)
_INSIDE = re.compile(r"\.py:\s*[A-Za-z_]")
_MODULE = "counterplay_own_"
LONGEST_REASON = 200  # characters


def is_user_defined(text: object) -> bool:
    """Whether this is written as `file.py:Name`."""
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


def split_user_defined(text: str) -> tuple[Path, str, str]:
    """File, word, and what stands behind it, such as `(3)`."""
    match = _NAME.fullmatch(text)
    assert match is not None
    return Path(match["file"]), match["word"], match["rest"] or ""


def user_object(text: str, kind: str) -> Any:
    """What `file.py:Name` is; `kind` is the word for it in errors."""
    path, word, _ = split_user_defined(text)
    module = _module(path)
    found = getattr(module, word, None)
    if found is None:
        there = [
            name
            for name, value in vars(module).items()
            if isinstance(value, type) and value.__module__ == module.__name__
        ]
        has = f"it has {', '.join(there)}" if there else "it has no class"
        raise BadParameter(f"no {kind} {word} in {path}; {has}")
    return found


def call_user_code(make: Any, text: str, *args: Any, **kwargs: Any) -> Any:
    """The user's class or function, called; what goes wrong is said with its line."""
    try:
        return make(*args, **kwargs)
    except CounterplayError:
        raise
    except Exception as error:
        raise CounterplayError(f"{text}: {user_code_reason(error)}") from None


def _module(path: Path) -> ModuleType:
    """The file as a module, run once while it stays as it is."""
    if not os.path.isfile(path):
        raise BadParameter(f"no file {path}; write it as file.py:Class, from where you are")
    try:
        place, text = path.resolve(), path.read_bytes()
    except OSError as error:
        raise BadParameter(f"{path} cannot be loaded: {reason(error)}") from None
    name = _MODULE + hashlib.blake2b(f"{place}".encode(), digest_size=6).hexdigest()
    module = sys.modules.get(name)
    if module is not None and getattr(module, "_text", None) == text:
        return module
    spec = importlib.util.spec_from_file_location(name, place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before it runs, as dataclasses need
    if str(place.parent) not in sys.path:
        sys.path.append(str(place.parent))  # what lies beside it can be imported
    try:
        exec(compile(text, place, "exec"), vars(module))  # an old .pyc may have the same second
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise BadParameter(f"{path} cannot be loaded: {user_code_reason(error)}") from None
    module._text = text  # type: ignore[attr-defined]
    return module


def user_file_at_fault(error: BaseException) -> str | None:
    """The user's own file in whose code an error arose, where it was named as `file.py:Name`."""
    step, found = error.__traceback__, None
    while step is not None:
        if str(step.tb_frame.f_globals.get("__name__", "")).startswith(_MODULE):
            found = str(step.tb_frame.f_globals.get("__file__", ""))
        step = step.tb_next
    return found


def user_code_reason(error: BaseException) -> str:
    """What went wrong, and in which line of whose file, for a sentence."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    text = text if len(text) <= LONGEST_REASON else f"{text[:LONGEST_REASON]}..."
    if isinstance(error, SyntaxError):
        return f"{text}"
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
    """Refuse to run code because a file says so, also where it is an argument of a game."""
    if is_user_defined(name) or _INSIDE.search(name):
        raise CounterplayError(
            f"{where}: is for {shown(name)}, a game in a file of its own, which is not run "
            f"because another file names it; {way}"
        )
