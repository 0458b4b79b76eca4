"""The database of a store, through SQLAlchemy Core: SQLite in memory or a file, or PostgreSQL."""

from .database import Database

__all__ = ["Database"]
