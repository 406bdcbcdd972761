"""``python -m mloml`` is the command ``mloml``."""

from mloml.cli import main

if __name__ == "__main__":
    main()
