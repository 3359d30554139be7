"""Card abstractions: the bucket of a holding on a board.

Read `abstraction.py` (the protocol and the tables of kernels), then `ehs.py` (buckets of effective
hand strength), `sparbot.py` and `lossless.py`. A module offers an abstraction as `ABSTRACTION`.
"""
