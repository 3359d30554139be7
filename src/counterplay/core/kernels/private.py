"""Whether nobody else can put code into the cache: what is read from there is run.

The checksums of compiled code notice damage. They are no signature: whoever can write there can
write those too.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def who_else_writes(folder: Path, root: Path) -> str | None:
    """Why `folder` cannot be trusted, None if it can: it, its folders and those up to `root` are
    only the user's.

    Above `root` it is enough that not everybody can rename what is there, as in /tmp.
    """
    if os.name == "nt":  # where folders of a user are his by their access lists
        return None
    top = Path(os.path.realpath(root))
    place = Path(os.path.realpath(folder))
    inside = [path for path in (place, *place.parents) if path == top or top in path.parents]
    for path in [*inside, *(sub for sub in place.iterdir() if sub.is_dir())]:
        if not only_mine(path.stat()):
            return f"others can write {path}"
    for path in top.parents:
        mode = path.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            return f"everybody can write {path}"
    return None


def only_mine(found: os.stat_result) -> bool:
    """A file or folder that belongs to the user or to root and that no one else can write."""
    if os.name == "nt":
        return True
    return found.st_uid in (0, os.getuid()) and not found.st_mode & OTHERS_WRITE


def make_private(folder: Path) -> None:
    """Create a folder, and those above it that do not exist, for this user only."""
    for path in [*reversed(folder.parents), folder]:
        if not path.is_dir():
            try:
                path.mkdir(mode=0o700)
            except FileExistsError:  # another process was a moment earlier
                if not path.is_dir():
                    raise NotADirectoryError(
                        errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path)
                    ) from None
