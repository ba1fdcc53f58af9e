"""Where the data shipped with lidar_sim lie: device profiles, models."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def bundled_folder(name: str) -> Path:
    """Folder of shipped data: inside the package in a wheel, beside it in a checkout.

    Args:
        name: "device_profiles" or "models".

    Raises:
        FileNotFoundError: neither place has the folder (a broken installation).
    """
    for parent in (_PACKAGE, _PACKAGE.parent):
        if (parent / name).is_dir():
            return parent / name
    raise FileNotFoundError(f"lidar_sim was installed without its {name!r} folder")
