"""Work on many processors, each way once. Read in this order:

`stopping`     Ctrl-C and SIGTERM as a flag
`processes`    `ProcessPool`: jobs in other processes, by fork or by spawn; threads in order
`ray_cluster`  `RayPool`: the same on a cluster
`jobs`         jobs that wait for each other, with a deadline, on either pool; background jobs
"""
