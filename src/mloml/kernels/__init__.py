"""Compiled code only: no classes, no input or output."""
