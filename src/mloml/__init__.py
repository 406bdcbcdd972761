"""Online metric learning for scikit-learn, and a reproduction of the MLOML paper."""

__version__ = "0.1.0"
