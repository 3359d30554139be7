"""Exact evaluation of strategies: `exact` (expected value, best response, exploitability), `kuhn`
(the error measures of Figure 4), `estimate` (numbers from a sample of flops, with intervals)."""
