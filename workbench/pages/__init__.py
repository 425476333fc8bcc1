"""Write pages for a browser: self-contained HTML files that open from disk."""
