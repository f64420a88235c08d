"""Game records: their notation (`README.md`) and files, replay, display as text and pages.

The package may import `core` and all packages that `core` may import.
"""
