"""Card abstractions: the bucket of a holding on a board.

Read `abstraction.py` (the protocol and the tables of kernels), `numbered.py` (kinds with any number
of buckets on a street), then the kinds: `ehs.py` (percentiles of hand strength), `emd.py`
(`kmeans.py` of `histograms.py`, and OCHS), `sparbot.py` and `lossless.py`. A module offers a kind
as `ABSTRACTION`.
"""
