"""Settings of the whole suite."""

from hypothesis import settings

# The first call of a compiled kernel takes seconds: timing never decides a test.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
