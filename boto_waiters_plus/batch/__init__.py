"""Many waits at once: their schedule, threads, groups, and the calls that they share."""
