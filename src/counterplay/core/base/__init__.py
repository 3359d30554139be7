"""Layer 0: errors, safe files and memory limits. Knows nothing about games."""
