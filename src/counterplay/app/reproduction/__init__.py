"""The paper's figures and tables. `counterplay reproduce NAME` runs one.

One module per figure or table: `fig4_kuhn`, `fig4_holdem`, `table1`, `table2`, `fig6`, `fig7`,
`fig8`, `holdem_time`; beyond the paper `bots`, `buckets`, `fig6_holdem` and `by_size`. Each has its
rules, runs and picture, and defines `EXPERIMENT`. They share `players` (of the tables and Figure 8,
with their sizes), `models` (of Figures 6 and 7), `holdem_runs` (of Figure 4) and `size_run` (one
measured process). `harness` runs them; read it first.
"""
