"""Speed measurement: the method (`measure`), and the measured tasks (`tasks`).

The package may import `evaluation` and all packages that `evaluation` may import.
"""
