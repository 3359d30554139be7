"""Computation on several threads, processes, machines or a CUDA device.

Jobs: `processes` (`ProcessPool`, by fork or spawn), `ray_cluster` (`RayPool`, on a cluster) and
`jobs` (jobs in order, dependent jobs with a deadline, background jobs, stopping by signals).

Sampling solvers: `pool` (worker pools, threads and their synchronisation), `remote_pool`,
`remote_worker` and `ray_workers` (workers without shared memory), `changes` (what those send).

Full-width solvers: `full_width` (threads that share one kernel, `ComputeOptions`), `partition` (how
they share the treeplexes), `barrier`, `device_form` (CUDA).
"""
