"""Write request bodies byte for byte as dspy's own client and litellm do."""
