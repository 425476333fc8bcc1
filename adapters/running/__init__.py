"""The one way to call a model, the events it tells, and the tools a model may call meanwhile."""
