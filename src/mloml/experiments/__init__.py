"""Cells and what becomes of them: how they are evaluated, run on one machine or many, and stored."""
