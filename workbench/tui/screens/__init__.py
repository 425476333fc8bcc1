"""Screens: the panes, the pages of F7, the lesson, review, bench and stress test."""
