"""``python -m lidar_sim``: the command line, as ``lidar-sim``."""

from __future__ import annotations

import sys

from lidar_sim.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
