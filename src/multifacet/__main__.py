"""Run the command by ``python -m multifacet``."""

from .cli import main

if __name__ == "__main__":
    main(prog_name="multifacet")
