"""Drawings: from frames of numbers to matplotlib figures, without any files."""
