"""Checks from outside: the public API and the command line only."""
