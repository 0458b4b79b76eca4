"""Calls that change something: their effects, and their repetition, behind `idempotency`."""
