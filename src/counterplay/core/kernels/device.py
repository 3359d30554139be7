"""A CUDA device through CuPy: arrays, kernels from source, recorded graphs of kernels, batched
matrix products.

The threads of a kernel in this project do not communicate. Tests without a device therefore compile
the same source for the CPU (`tests/support/emulate.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter, TooLarge

Kernel = Callable[..., None]  # grid, threads of a block, arguments

# CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT, CUDA_R_32F, CUDA_R_16F
_COMPUTE, _DEFAULT, _FLOAT, _HALF = 68, -1, 0, 2


def cupy() -> Any:
    """Returns CuPy; `BadParameter` if it or a device is missing."""
    try:
        import cupy as library

        if library.cuda.runtime.getDeviceCount() < 1:
            raise BadParameter("there is no CUDA device; use backend=cpu")
        return library
    except ImportError:
        raise BadParameter(
            "backend=cuda needs CuPy: pip install '.[gpu]' in a clone, or use backend=cpu"
        ) from None
    except BadParameter:
        raise
    except Exception as error:  # any error of the driver
        raise BadParameter(f"no CUDA device can be used ({error}); use backend=cpu") from None


def check_memory(device: Any, needed: float, name: str) -> None:
    """`TooLarge` if fewer than `needed` bytes are free on the device."""
    free = device.free_bytes()
    if needed > free:
        raise TooLarge(
            f"{name} takes about {needed / 1e9:.1f} GB on the device, and {free / 1e9:.1f} GB are "
            f"free there; use fewer buckets"
        )


class Device:
    """The first device."""

    def __init__(self) -> None:
        self.cupy = cupy()
        from cupy.cuda import cublas, device

        self._cublas, self._handle = cublas, device.get_cublas_handle
        self._stream = self.cupy.cuda.Stream(non_blocking=True)
        self.stream: AbstractContextManager[Any] = self._stream
        self._uploads = self.cupy.cuda.Stream(non_blocking=True)

    def put(self, array: np.ndarray) -> Any:
        return self.cupy.asarray(np.ascontiguousarray(array))

    def put_ahead(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        """`put` beside the work of the stream; the result must live until that work is done."""
        with self._uploads:
            uploaded = [self.put(array) for array in arrays]
        self._uploads.synchronize()
        return uploaded

    def get(self, array: Any) -> np.ndarray:
        copy: np.ndarray = array.get()
        return copy

    def empty(self, shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
        return self.cupy.empty(shape, dtype=dtype)

    def zeros(self, shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
        return self.cupy.zeros(shape, dtype=dtype)

    def free_bytes(self) -> int:
        """Returns the memory of the device that is free."""
        free, _ = self.cupy.cuda.runtime.memGetInfo()
        return int(free + self.cupy.get_default_memory_pool().free_bytes())

    def compile(self, source: str, exact: bool = False) -> Callable[[str], Kernel]:
        """Returns a function that gives the kernels of a source by name. `exact`: no fused
        multiply-add, so that every operation is rounded as on the CPU."""
        options = ("-std=c++14", "-fmad=false") if exact else ("-std=c++14",)
        module = self.cupy.RawModule(code=source, options=options)
        return cache(lambda name: module.get_function(name))

    def record(self, work: Callable[[], None]) -> Callable[[], None]:
        """Records the kernels that `work` launches; returns what launches all of them at once."""
        with self._stream:
            self._stream.begin_capture()
            try:
                work()
            finally:
                graph = self._stream.end_capture()
        return lambda: graph.launch(self._stream)

    def wait(self) -> None:
        """Waits until all work on the stream is done."""
        self._stream.synchronize()

    def multiply(
        self, left: Any, right: Any, out: Any, factor: float = 1.0, add: int = 0,
        transposed: bool = False,
    ) -> None:  # fmt: skip
        """out[b] = factor left[b] right[b] in single precision, or += with `add` = 1; with the
        transposed matrices left[b] if `transposed`. Both are in half precision; rows may be parts
        of longer ones."""
        boards, inner, columns = right.shape
        rows = left.shape[2] if transposed else left.shape[1]
        handle = self._handle()
        self._cublas.setStream(handle, self.cupy.cuda.get_current_stream().ptr)
        scalars = np.array([factor, add], np.float32)
        self._cublas.gemmStridedBatchedEx(  # column-major there, hence transposed
            handle, 0, int(transposed), columns, rows, inner, scalars[:1].ctypes.data,
            right.data.ptr, _HALF, right.strides[1] // 2, right.strides[0] // 2,
            left.data.ptr, _HALF, left.strides[1] // 2, left.strides[0] // 2,
            scalars[1:].ctypes.data,
            out.data.ptr, _FLOAT, out.strides[1] // 4, out.strides[0] // 4, boards, _COMPUTE,
            _DEFAULT,
        )  # fmt: skip
