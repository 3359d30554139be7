"""Layer 2: how good a strategy is. Exact, no sampling."""
