"""`python -m biconsensus.cli`, as in version 0.1.0; `python -m biconsensus` is shorter."""

from __future__ import annotations

from biconsensus.cli._main import main

if __name__ == "__main__":
    main()
