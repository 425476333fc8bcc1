"""Parse results of replies: spans, fields, flags, diagnoses and near misses."""
