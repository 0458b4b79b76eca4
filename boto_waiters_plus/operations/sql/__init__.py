"""A store in a SQLite file or on a PostgreSQL server, through SQLAlchemy Core."""

from .backend import SqlBackend

__all__ = ["SqlBackend"]
