"""Layer 3: robust responses to an opponent model. A transform of a form plus a solver; no
traversal of their own."""
