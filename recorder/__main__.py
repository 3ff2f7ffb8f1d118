"""The commands `rec`, `recorder` and `python -m recorder`."""

from __future__ import annotations

import sys

from recorder._version import __version__


def main() -> int:
    """Run the command line in `sys.argv` and give its exit code.

    0 fine, 1 two states differ or damage was found, 2 an error, 130 interrupted.

    `--version` alone is answered here, before anything is imported: it must start as fast as Python does.
    """
    if sys.argv[1:] in (["--version"], ["-V"]):
        print(f"rec {__version__}")
        return 0
    try:
        from recorder.cli.app import main as run

        return run(sys.argv[1:])
    except KeyboardInterrupt:
        # The command line answers this itself; here it covers the moment in which it is still being imported.
        return 130


if __name__ == "__main__":
    sys.exit(main())
