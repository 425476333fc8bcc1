"""A class in the browser: who can join, the program and folder of each seat, and the walls around it."""
