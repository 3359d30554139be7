"""Layer 2: two-player limit Texas Hold'em. Real cards; only what a strategy sees is put into
buckets."""
