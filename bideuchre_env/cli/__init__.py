"""The `bideuchre` command: a module for each command, and shared modules.

The package may import all other packages; each command imports its modules when it runs.
"""
