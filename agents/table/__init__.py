"""Players of tables: kernels that contain them, and agents that are called from Python."""
