"""The `bideuchre` command: a module for each command, and shared modules.

It imports every other folder; each command imports its modules when it runs.
"""
