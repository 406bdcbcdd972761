"""Compiled kernels against plain NumPy: tiny problems, solved before a process believes a kernel."""
