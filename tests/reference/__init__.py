"""Naive twins of the kernels: recursive, dict-based, written from the paper. Slow on purpose."""
