"""Players that were trained: networks, played by kernels."""
