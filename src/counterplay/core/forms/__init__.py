"""Layer 1: games as arrays (`HistoryTree`, `SequenceForm`), strategies, and building one from
another."""
