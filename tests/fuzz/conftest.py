from datetime import timedelta

from hypothesis import HealthCheck, settings

# A drawn problem is judged by loops in Python, so that time says nothing. Nothing is kept between runs.
COMMON = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))
settings.register_profile("brief", COMMON, max_examples=40, derandomize=True)
settings.register_profile("long", COMMON, max_examples=5_000, deadline=timedelta(seconds=60), print_blob=True)
# Read before the command line's choice where this folder is named there.
settings.load_profile("brief")
