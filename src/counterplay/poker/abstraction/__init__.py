"""Card abstractions: which bucket a holding has on a board. A file each, which sets
`ABSTRACTION`."""
