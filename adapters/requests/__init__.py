"""What goes to a model beside the messages, as adapter and model together decide it."""
