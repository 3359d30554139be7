"""Limit betting: rules, their public tree, and rows of a strategy."""
