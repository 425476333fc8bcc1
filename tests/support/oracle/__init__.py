"""What the parity tests share: cases, live signatures for both engines, and how two outcomes are compared."""
