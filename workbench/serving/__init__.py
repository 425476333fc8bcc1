"""A class in the browser: who may come in, the program and folder that each visitor gets, and what keeps it there."""
