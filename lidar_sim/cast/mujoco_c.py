"""The door to libmujoco: C functions by address, checked against the installed version."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import mujoco
from mujoco.introspect import functions

from lidar_sim.errors import LidarSimError
from lidar_sim.jit import CFunction

_LIBRARY_NAMES = ("libmujoco.so*", "libmujoco*.dylib", "mujoco.dll")


def library_path() -> Path:
    """Shared library inside the installed ``mujoco`` package.

    Raises:
        LidarSimError: the package holds none.
    """
    folder = Path(mujoco.__file__).parent
    for pattern in _LIBRARY_NAMES:
        for path in sorted(folder.glob(pattern)):
            return path
    raise LidarSimError(f"no libmujoco in {folder}; looked for: {', '.join(_LIBRARY_NAMES)}")


def check_arguments(name: str, expected: Sequence[str], known: Mapping[str, Any] = functions.FUNCTIONS) -> None:
    """Refuse a MuJoCo whose C function ``name`` does not take the arguments we pass.

    Args:
        name: C function.
        expected: its argument names, in order.
        known: the installed MuJoCo's own description of its functions.

    Raises:
        LidarSimError: the function is missing or takes others.
    """
    found = [p.name for p in known[name].parameters] if name in known else None
    if found != list(expected):
        has = "has no " + name if found is None else f"has {name}({', '.join(found)})"
        raise LidarSimError(
            f"MuJoCo {mujoco.__version__} {has}; {name}({', '.join(expected)}) is needed: install mujoco>=3.5"
        )


def c_functions(signatures: Mapping[str, tuple[Any, Sequence[str]]]) -> dict[str, CFunction]:
    """MuJoCo's C functions as kernel arguments.

    Args:
        signatures: name -> (Numba signature, argument names).

    Raises:
        LidarSimError: the installed MuJoCo lacks one, or has it with other arguments.
    """
    library = ctypes.CDLL(str(library_path()))
    found = {}
    for name, (signature, arguments) in signatures.items():
        check_arguments(name, arguments)
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        assert address is not None
        found[name] = CFunction(address, signature)
    return found
