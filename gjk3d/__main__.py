"""``python -m gjk3d`` is the ``gjk3d`` command."""

import sys

from gjk3d.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
