"""`boto-wait scan`: polling loops in Python files, and the line to write instead."""
