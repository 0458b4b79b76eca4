"""The pure core: definitions, acceptors, delays, and the machine that runs a wait.

Nothing in this package reads a clock, sleeps, logs, draws random numbers of its own, or knows
boto. Drivers feed it events and do what it decides.
"""
