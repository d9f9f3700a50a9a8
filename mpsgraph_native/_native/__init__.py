"""Declarations of the native core for Cython, one file per header. Nothing to import at run time."""
