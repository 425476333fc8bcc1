"""A session's cases as requests, its tools with those who answer, and its recordings as a model."""
