"""Finds, parses, converts and caches waiter definitions."""
