"""One file per figure and table of the paper."""
