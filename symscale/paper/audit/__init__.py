"""Formulas and numbers that a document states by hand, checked like answers to exercises."""
