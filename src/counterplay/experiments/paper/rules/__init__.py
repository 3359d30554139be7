"""The rules that judge the paper's claims: pure functions of numbers with intervals, a file for
each figure or table."""
