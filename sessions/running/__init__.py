"""A session's cases as requests, its tools with those who answer, and recordings, also in the place of a model."""
