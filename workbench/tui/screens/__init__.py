"""The screens a user stays on: the panes, a closer look at one column, a lesson."""
