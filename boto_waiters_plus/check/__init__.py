"""The checks of definitions, behind the public module `validation`."""
