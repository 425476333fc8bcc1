"""What goes out, byte for byte: the bodies of requests as dspy's own client and litellm write them."""
