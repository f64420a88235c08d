"""Settings for every test: examples are found the same way in every run, and none is timed."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "repeatable",
    derandomize=True,  # a fixed search: what passes here passes everywhere
    deadline=None,  # the first example of a run may compile kernels
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("repeatable")
