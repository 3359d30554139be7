"""Hold'em walked by the board: the betting tree once, with a number for every holding of each
player."""
