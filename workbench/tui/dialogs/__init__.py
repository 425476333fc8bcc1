"""Dialogs that several actions use."""
