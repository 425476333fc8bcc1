"""What leaves the program: the gates for screen, command line and JSON, and the words both front ends share."""
