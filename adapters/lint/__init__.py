"""Warnings about parts of a prompt that reach the model in an unexpected form.

A lint never changes the prompt; it describes a problem and the demo, turn, input or field to look at.
"""

from adapters.lint.lint import ABOUT_TYPES, Lint, Place
from adapters.lint.linting import LINTS, lint
from adapters.lint.values import round_trip

__all__ = ["ABOUT_TYPES", "LINTS", "Lint", "Place", "lint", "round_trip"]
