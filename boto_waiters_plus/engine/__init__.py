"""The pure core: what a waiter is, when it looks again, and when it ends.

Nothing below this package reads a clock, sleeps, logs, draws random numbers of
its own, or knows boto. Drivers feed it events and obey its decisions.
"""
