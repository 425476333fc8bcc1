"""Read signatures from Python source and the string notation, without running them."""
