"""The fitted numbers of the expert's auction."""

# fmt: off
CALL_NUMBERS: dict[str, tuple[float, ...]] = {}
