"""Warnings about a prompt: parts of signature, demos and inputs that reach the model in an unexpected form.

A lint leaves the prompt as it is; it only says what is the case and which demo, turn, input or field to look at.
"""

from adapters.lint.demos import round_trip
from adapters.lint.lint import ABOUT_TYPES, Lint, Place
from adapters.lint.linting import LINTS, lint

__all__ = ["ABOUT_TYPES", "LINTS", "Lint", "Place", "lint", "round_trip"]
