"""Functions that only kernels call (`jit(inner=True)`): compiled as far as kernels link them.

Numba optimises every function and makes machine code of it, although a function that is called by
kernels becomes part of each of them, and is optimised there again. These two steps take half of the
time in which public chance sampling is compiled. Here a function stays LLVM's unoptimised code,
in the cache too. The code of the kernels computes the same bits.

This replaces steps inside Numba's compiler, so it is done with `KNOWN` versions of Numba alone;
with others these functions are compiled as Numba does it.
"""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import binding
from numba.core import caching, codegen, compiler, compiler_machinery, typed_passes

_codegen: Any = codegen  # none of them is typed
_compiler: Any = compiler
_passes: Any = typed_passes
_machinery: Any = compiler_machinery
_caching: Any = caching
_binding: Any = binding

KNOWN = ((0, 68),)  # versions of Numba that this was tested with
#: How a library of this kind is marked in the cache, beside Numba's "object" and "bitcode".
KIND = "inner"


class InnerLibrary(_codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of one function, and of those that it calls, for linking."""

    def _optimize_final_module(self) -> None:
        """The kernel that it becomes part of is optimised."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        prefix = _codegen.RuntimeLinker.PREFIX
        if any(one.name.startswith(prefix) for one in self._final_module.global_variables):
            raise TypeError(f"{self.name} calls itself by another function: it cannot be inner")
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """There is no machine code that could be called."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> InnerLibrary:
        """Where Numba stores the Python objects of a function (`set_env`)."""
        return self

    def set_env(self, name: str, objects: Any) -> None:
        """Kernels use none."""

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        return self.name, KIND, self._get_module_for_linking().as_bitcode()

    @classmethod
    def _unserialize(cls, owner: Any, state: tuple[str, str, bytes]) -> InnerLibrary:
        name, _, code = state
        library = cls(owner, name)
        library._final_module = _binding.parse_bitcode(code)
        library._finalize_final_module()
        return library


@_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class InnerLowering(_passes.NativeLowering):  # type: ignore[misc]
    """Numba's last step, into an `InnerLibrary`."""

    _name = "inner_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return bool(super().run_pass(state))


class InnerCompiler(_compiler.CompilerBase):  # type: ignore[misc]
    """Numba's compiler with that last step."""

    def define_pipelines(self) -> list[Any]:
        steps = _compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        own = {_passes.NativeLowering: InnerLowering}
        steps.passes = [(own.get(step, step), text) for step, text in steps.passes]
        steps.finalize()
        return [steps]


def inner_options(version: tuple[int, ...]) -> dict[str, Any]:
    """Returns the options of functions that only kernels call, for a version of Numba."""
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return {**options, "pipeline_class": InnerCompiler} if version in KNOWN else options


INNER: Any = inner_options(tuple(numba.version_info[:2]))


class KernelCacheImpl(_caching.CompileResultCacheImpl):  # type: ignore[misc]
    """What is read from the cache, with libraries of either kind."""

    def rebuild(self, context: Any, payload: tuple[Any, ...]) -> Any:
        library, descriptor, environment, signature, *_ = payload
        if library[1] != KIND:
            return super().rebuild(context, payload)
        loaded = InnerLibrary._unserialize(context.codegen(), library)
        return _compiler.compile_result(
            target_context=context,
            typing_context=context.typing_context,
            library=loaded,
            environment=environment,
            entry_point=context.get_executable(loaded, descriptor, environment),
            fndesc=descriptor,
            signature=signature,
            objectmode=False,
            lifted=(),
            reload_init=(),
            referenced_envs=(),
        )
