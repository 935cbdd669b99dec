"""The command ``solver``, as the wheel installs it."""

import signal
import sys

from . import _core


def main() -> int:
    """Runs the command with the arguments of this process; returns the exit code."""
    # Python's handler would wait for the command's end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.run_command(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
