"""Hand histories: finished hands of two-player limit hold'em, and the formats they are stored in.

Reading order: `records.py` (one checked hand, what every reader returns, compressed files,
checksums, folders), the formats `acpc.py` (dealer logs), `phh.py` (PHH) and
`parquet.py`, and `read.py`, which recognises the format of a file.
"""
