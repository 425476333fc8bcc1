"""A class in the browser: joining, and the program, folder and limits of each seat."""
