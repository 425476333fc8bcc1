"""Flags: surprises in a parse result, each with a name and a sentence that explains it.

Flags are found from the reading alone, when they are asked for (`explaining`); `glossary` says what each name means.
"""
