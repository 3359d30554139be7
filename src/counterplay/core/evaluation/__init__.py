"""Exact evaluation of strategies: `exact` (expected value, best response, exploitability, values of
information sets), `estimate` (numbers from a sample of flops, with intervals)."""
