"""Game records: their notation and files, replay, and display as text, pictures and pages.

The package may import `core` and all packages that `core` may import.
"""
