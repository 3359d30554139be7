"""Layer 0: the pieces every kernel is made of. Pure functions over arrays."""
