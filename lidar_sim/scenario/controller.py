"""A motion by physics: the user's controller before every step of MuJoCo."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from lidar_sim.errors import ScenarioError, unknown_name

Controller = Callable[[mujoco.MjModel, mujoco.MjData], Any]

_DIVERGED = (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL, mujoco.mjtWarning.mjWARN_BADQACC)
# data.time is a sum of timesteps: far less than a step off its multiple.
_STEP_TOLERANCE = 1e-3


class ControllerDrive:
    """Calls ``controller(model, data)``, then ``mj_step``, as often as the time needs."""

    duration_s: float | None = None

    def __init__(self, controller: str | Controller) -> None:
        """Drive by a controller.

        Args:
            controller: a function of (model, data) that writes ``data.ctrl`` and the like, or its name as
                "module:function"; the module may lie in the working directory.

        Raises:
            ScenarioError: the name has another form, or the module or function cannot be found.
        """
        self._controller = load_controller(controller) if isinstance(controller, str) else controller
        self._name = controller if isinstance(controller, str) else getattr(controller, "__name__", "controller")

    def advance(self, model: mujoco.MjModel, data: mujoco.MjData, time_s: float) -> None:
        """Step the physics to ``time_s``, which lies a whole number of timesteps ahead.

        Raises:
            ScenarioError: another time; the controller failed; the simulation became unstable.
        """
        steps = (time_s - data.time) / model.opt.timestep
        if steps < -_STEP_TOLERANCE or abs(steps - round(steps)) > _STEP_TOLERANCE:
            raise ScenarioError(
                f"{time_s} s is not a whole number of timesteps ({model.opt.timestep} s) after {data.time:.6f} s"
            )
        for _ in range(round(steps)):
            self._step(model, data)

    def _step(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        time_s = data.time
        try:
            self._controller(model, data)
        except Exception as error:
            text = " ".join(str(error).split())
            raise ScenarioError(
                f"controller {self._name} failed at {time_s:.6f} s: {type(error).__name__}: {text}"
            ) from error
        mujoco.mj_step(model, data)
        # MuJoCo resets the data, time and all, when the simulation diverges.
        if data.time <= time_s or any(data.warning[kind].number for kind in _DIVERGED):
            raise ScenarioError(f"the simulation became unstable at {time_s:.6f} s under controller {self._name}")
        if not np.isfinite(data.qpos).all():
            raise ScenarioError(f"qpos is not finite after {time_s:.6f} s under controller {self._name}")


def load_controller(name: str) -> Controller:
    """The function named "module:function".

    Raises:
        ScenarioError: see ``ControllerDrive``.
    """
    module_name, colon, function_name = name.partition(":")
    if not (colon and module_name and function_name):
        raise ScenarioError(f"a controller is named module:function, found {name!r}")
    module = _import(module_name)
    function = getattr(module, function_name, None)
    if not callable(function):
        valid = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise ScenarioError(unknown_name(f"function of {module_name}", function_name, valid))
    return function  # type: ignore[no-any-return]


def _import(name: str) -> Any:
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ScenarioError(f"controller module {name!r} cannot be imported: {error}") from error
    except Exception as error:
        raise ScenarioError(f"controller module {name!r} failed: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(here)
