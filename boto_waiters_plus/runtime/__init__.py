"""Thin loops that obey the engine; they know no botocore, only the port they are given."""
