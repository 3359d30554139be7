"""What all kernels are made of: pure functions over arrays, compiled by Numba.

Read `jit` first (the decorator and its cache on disk, `cache`), then `rng` and `policy` (random
numbers, regret matching, sampling of actions). `simd`, `intrinsics` and `cache_lines` are about
speed: vector instructions, calls by address and memory latency, false sharing. `device` is CUDA.
"""
