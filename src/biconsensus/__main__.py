"""`python -m biconsensus`."""

from __future__ import annotations

from biconsensus.cli._main import main

if __name__ == "__main__":
    main()
