"""What in a signature, its demos and its inputs does not reach the model as one would think.

A lint leaves the prompt as it is; it only says what is the case and which demo, turn, input or field to look at.
"""

from adapters.lint.lint import Lint, Place
from adapters.lint.linting import LINTS, lint
from adapters.lint.round_trip import round_trip

__all__ = ["LINTS", "Lint", "Place", "lint", "round_trip"]
