"""Layer 5: one file per figure and table of the paper. `counterplay reproduce NAME` runs one."""
