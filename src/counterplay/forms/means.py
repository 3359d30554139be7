"""With what full width is computed: how many threads, on a processor or a device, how precisely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from counterplay.base.errors import BadParameter
from counterplay.forms import on_device
from counterplay.forms.together import check_threads, replies_together

BACKENDS = ("cpu", "cuda", "auto")
#: Entries of a side from which a device is ahead of a processor (`benchmarks/full_width_gpu.csv`).
LEAST_ENTRIES = 10_000
LEAST_FOR_REPLIES = 300_000  # the same for a single best reply, which has to be sent there and back


class Replies(Protocol):
    """What can work out best replies in a form."""

    def best_value(self, player: int, policy: np.ndarray, out: np.ndarray) -> float:
        """What `player` gets by his best reply to the other's `policy`; `out`: that reply."""


@dataclass(frozen=True)
class Means:
    """`threads`: a number, or "auto" for all processors; few are used where more would not help,
    and the bits are the same. `backend`: "cpu", "cuda", or "auto" for a device where there is one
    and the game is large. `precision` on a device: "double" or "single"."""

    threads: int | str = 1
    backend: str = "cpu"
    precision: str = "double"

    @property
    def options(self) -> dict[str, Any]:
        """Those that were asked for."""
        plain = Means()
        asked = {name: getattr(self, name) for name in ("threads", "backend", "precision")}
        return {name: value for name, value in asked.items() if value != getattr(plain, name)}

    def replies(self, form: Any) -> Replies | None:
        """Who works out best replies; None for one thread, which needs no preparation."""
        self.check()
        if use_device(form, self.backend, self.threads, LEAST_FOR_REPLIES):
            return on_device.DeviceForm(form, self.precision)
        return replies_together(form, check_threads(self.threads))

    def check(self) -> None:
        """`BadParameter` for what there is not."""
        check_threads(self.threads)
        check_precision(self.precision, self.backend)


def use_device(form: Any, backend: Any, threads: Any, least: int | None = None) -> bool:
    """Whether a backend means a device for this form; `BadParameter` for what cannot be."""
    if backend not in BACKENDS:
        raise BadParameter(f"backend must be one of {', '.join(BACKENDS)}, not {backend!r}")
    if backend == "cpu":
        return False
    if backend == "cuda":
        if threads != 1:
            raise BadParameter("with backend=cuda the device does the work; leave out threads")
        return True
    if max(len(side.value) for side in form) < (least or LEAST_ENTRIES):
        return False
    try:
        on_device.NEW_DEVICE()
        return True
    except BadParameter:
        return False


def check_precision(precision: Any, backend: str) -> str:
    if precision not in tuple(on_device.PRECISIONS):
        known = ", ".join(on_device.PRECISIONS)
        raise BadParameter(f"precision must be one of {known}, not {precision!r}")
    if precision != "double" and backend == "cpu":
        raise BadParameter("single precision is for a device; use backend=cuda or auto")
    return str(precision)
