"""Random numbers: xoshiro256+ (Blackman & Vigna), with its state `uint64[4]` as an argument.

The same state gives the same numbers on every machine, and a generator is saved and restored as an
array.
"""

from __future__ import annotations

import numpy as np

from counterplay.core.base.errors import BadParameter, shown
from counterplay.core.kernels.jit import index, jit

_MASK = (1 << 64) - 1
_11, _17, _19, _27, _30, _31, _45 = (np.uint64(k) for k in (11, 17, 19, 27, 30, 31, 45))
_STREAM, _STEP = np.uint64(0xD1342543DE82EF95), np.uint64(0x9E3779B97F4A7C15)
_MIX, _MIX_AGAIN = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_TO_UNIT = 2.0**-53
_0, _1, _2, _3 = (index(k) for k in range(4))


def new_state(seed: int, stream: int = 0) -> np.ndarray:
    """Returns the state `uint64[4]` of a seed; different streams of one seed are independent."""
    state = np.empty(4, dtype=np.uint64)
    with np.errstate(over="ignore"):  # without the jit NumPy warns of the wrap-around
        seed_state(check_seed(seed), index(stream), state)
    return state


def check_seed(seed: int) -> int:
    """Returns the seed as kernels take it, or raises `BadParameter`."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed <= _MASK:
        raise BadParameter(f"seed must be a whole number from 0 to 2^64 - 1, not {shown(seed)}")
    return index(seed)


@jit(inline=True)
def seed_state(seed: int, stream: int, state: np.ndarray) -> None:
    """`new_state` in kernels, for a seed that was checked: fills `state` by splitmix64."""
    word = seed ^ (stream * _STREAM)
    for k in range(index(4)):
        word += _STEP
        mixed = (word ^ (word >> _30)) * _MIX
        mixed = (mixed ^ (mixed >> _27)) * _MIX_AGAIN
        state[k] = mixed ^ (mixed >> _31)


@jit(inline=True)
def uniform(state: np.ndarray) -> float:
    """Returns a number in [0, 1); changes `state`."""
    s0, s1, s2, s3 = state[_0], state[_1], state[_2], state[_3]
    result = s0 + s3
    shifted = s1 << _17
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    s3 = (s3 << _45) | (s3 >> _19)
    state[_0], state[_1], state[_2], state[_3] = s0, s1, s2, s3
    return float(result >> _11) * _TO_UNIT
