"""Documents that people write: pieces of derivations in them, kept up to date."""
