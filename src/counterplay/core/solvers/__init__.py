"""Layer 2: equilibrium finders. One file per algorithm; `solve` runs any of them by name."""
