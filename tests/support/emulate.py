"""Emulation of CUDA kernels on the CPU: their source is compiled by g++, and threads run one after
the other.

Only for kernels whose threads do not communicate, as all of this project's. Speed and
single-precision products are tested where there is a real device.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

COMPILER = shutil.which("g++")
FLAGS = ("-O2", "-march=native", "-shared", "-fPIC")


def has_device() -> bool:
    """Whether there is a CUDA device."""
    try:
        import cupy

        return bool(cupy.cuda.runtime.getDeviceCount() > 0)
    except Exception:
        return False


_HEADER = r"""
#include <cmath>
#include <cstddef>
#include <cstring>
struct Three { int x, y, z; };
static thread_local Three blockIdx, threadIdx, blockDim;
#define __global__
#define __device__ static
#define __shared__ static thread_local
#define KERNEL static inline __attribute__((always_inline)) void
static inline unsigned __float_as_uint(float f) { unsigned u; memcpy(&u, &f, 4); return u; }
static inline float __uint_as_float(unsigned u) { float f; memcpy(&f, &u, 4); return f; }
static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }
"""

_KERNEL = re.compile(r'extern "C" __global__ void\s+(\w+)\s*\(([^)]*)\)')
_C_TYPES = {"int32": ctypes.c_int, "float32": ctypes.c_float, "float64": ctypes.c_double}


def _launcher(name: str, parameters: str) -> str:
    names = ", ".join(re.findall(r"(\w+)\s*(?:,|$)", parameters))
    return f"""
extern "C" void run_{name}(int gx_, int gy_, int gz_, int n_, {parameters}) {{
    blockDim = {{n_, 1, 1}};
    for (int k_ = 0; k_ < gx_ * gy_ * gz_; ++k_) {{
        blockIdx = {{k_ % gx_, k_ / gx_ % gy_, k_ / gx_ / gy_}};
        for (int t_ = 0; t_ < n_; ++t_) {{ threadIdx = {{t_, 0, 0}}; {name}({names}); }}
    }}
}}
"""


class EmulatedDevice:
    """What `counterplay.core.kernels.device.Device` does, in memory."""

    def __init__(self) -> None:
        self.stream: AbstractContextManager[Any] = nullcontext()

    def put(self, array: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(array).copy()

    def put_ahead(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [self.put(array) for array in arrays]

    def get(self, array: np.ndarray) -> np.ndarray:
        return array

    def empty(self, shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
        made = np.empty(shape, dtype=dtype)
        made.fill(7 if np.issubdtype(dtype, np.integer) else np.nan)  # nobody may rely on it
        return made

    def zeros(self, shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
        return np.zeros(shape, dtype=dtype)

    def free_bytes(self) -> int:
        return 1 << 40

    def multiply(
        self, left: np.ndarray, right: np.ndarray, out: np.ndarray, factor: float = 1.0,
        add: int = 0, transposed: bool = False,
    ) -> None:  # fmt: skip
        self.launched((left, right, out))
        left = left.swapaxes(1, 2) if transposed else left
        single = (array.view(np.float16).astype(np.float32) for array in (left, right))
        product = np.float32(factor) * np.matmul(*single)
        out[...] = out + product if add else product

    def wait(self) -> None:
        """Nothing runs beside."""

    def launched(self, arguments: Sequence[Any]) -> None:
        """Called before a kernel runs with these arguments."""

    def record(self, work: Callable[[], None]) -> Callable[[], None]:
        return work

    def compile(self, source: str, exact: bool = False) -> Any:
        kernels = _KERNEL.findall(source)
        inlined = source.replace('extern "C" __global__ void', "KERNEL")  # most threads are idle
        launchers = "".join(_launcher(*kernel) for kernel in kernels)
        code = f"// {FLAGS} {exact}" + _HEADER + inlined + launchers
        folder = (
            Path(tempfile.gettempdir())
            / f"emulated-{hashlib.sha256(code.encode()).hexdigest()[:20]}"
        )
        library = folder / "kernels.so"
        if not library.exists():
            folder.mkdir(exist_ok=True)
            (folder / "kernels.cpp").write_text(code)
            made = folder / f"{id(self)}.so"
            command = [COMPILER, *FLAGS, "-o", made]
            command += ["-ffp-contract=off"] if exact else []
            subprocess.run([*command, folder / "kernels.cpp"], check=True)
            made.replace(library)
        loaded = ctypes.CDLL(str(library))

        def find(name: str) -> Any:
            function = getattr(loaded, f"run_{name}")

            def launch(grid: tuple[int, ...], block: tuple[int, ...], arguments: Any) -> None:
                self.launched(arguments)
                sizes = (*grid, 1, 1)[:3]
                function(*(ctypes.c_int(k) for k in (*sizes, *block)), *map(_argument, arguments))

            return launch

        return find


class CountingDevice(EmulatedDevice):
    """An emulated device that counts the bytes of its arrays: `held` now, `most` at once."""

    def __init__(self) -> None:
        super().__init__()
        self.held = self.most = 0

    def put(self, array: np.ndarray) -> np.ndarray:
        return self._counted(super().put(array))

    def empty(self, shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
        return self._counted(super().empty(shape, dtype))

    def zeros(self, shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
        return self._counted(super().zeros(shape, dtype))

    def _counted(self, array: np.ndarray) -> np.ndarray:
        self._change(array.nbytes)
        weakref.finalize(array, self._change, -array.nbytes).atexit = False
        return array

    def _change(self, n_bytes: int) -> None:
        self.held += n_bytes
        self.most = max(self.most, self.held)


class LifetimeDevice(EmulatedDevice):
    """An emulated device on which no launched kernel is known to have run before `wait`: it counts
    in `lost` the arrays of `put_ahead` that are freed before, and could be overwritten."""

    def __init__(self) -> None:
        super().__init__()
        self.lost = self.uploaded = self.waits = 0
        self._alive: set[int] = set()
        self._in_use: set[int] = set()

    def put_ahead(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        made = super().put_ahead(arrays)
        for array in made:
            self._alive.add(id(array))
            weakref.finalize(array, self._freed, id(array)).atexit = False
        self.uploaded += len(made)
        return made

    def launched(self, arguments: Sequence[Any]) -> None:
        for array in arguments:
            while isinstance(array, np.ndarray):
                if id(array) in self._alive:
                    self._in_use.add(id(array))
                array = array.base

    def wait(self) -> None:
        self._in_use.clear()
        self.waits += 1

    def _freed(self, number: int) -> None:
        self.lost += number in self._in_use
        self._alive.discard(number)
        self._in_use.discard(number)


def _argument(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        return ctypes.c_void_p(value.ctypes.data)
    return _C_TYPES[value.dtype.name](value)
