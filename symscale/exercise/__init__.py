"""Exercises: printed answers beside what the engine derives."""
