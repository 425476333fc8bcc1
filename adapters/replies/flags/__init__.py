"""Flags: named, explained surprises in a parse result.

`explaining` derives them from the parse result alone, on demand; `glossary` says what each name means.
"""
