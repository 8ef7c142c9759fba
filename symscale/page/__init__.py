"""The interactive HTML report: one self-contained page whose numbers follow what a reader types."""
