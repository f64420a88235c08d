"""The ids of variants in the registries of PettingZoo and Gymnasium."""

from __future__ import annotations


def pettingzoo_id(name: str) -> str:
    """The id of a variant in PettingZoo's registry, such as `bideuchre/cincinnati-v0`."""
    stem, _, version = name.rpartition("_v")
    return f"bideuchre/{stem.replace('_', '-')}-v{version}"


def gymnasium_id(name: str) -> str:
    """The id of a variant in Gymnasium's registry, such as `bideuchre/Cincinnati-v0`."""
    stem, _, version = name.rpartition("_v")
    return f"bideuchre/{stem.title().replace('_', '')}-v{version}"
