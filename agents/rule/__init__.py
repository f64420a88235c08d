"""The rule player: maxims of good players, as kernels over observation rows."""
