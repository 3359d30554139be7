"""What all kernels are made of: pure functions over arrays, compiled by Numba.

Read `jit` first (the decorator and its cache on disk, `cache`), then `rng` and `policy` (random
numbers, regret matching, sampling of actions). `intrinsics` and `cache_lines` are about speed:
calls by address, memory latency, vector instructions, false sharing. `device` is CUDA.
"""
