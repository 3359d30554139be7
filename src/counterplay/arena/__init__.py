"""Who plays the blocks of a match: threads and processes."""
