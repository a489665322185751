"""``python -m soar_il``: the command ``soar`` where it is not on the path."""

from soar_il.cli import main

if __name__ == "__main__":
    main()
