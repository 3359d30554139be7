"""Vector-form traversal of the public tree: one pass with a number for every private hand."""
