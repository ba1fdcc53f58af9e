"""What moves the scene: the interface of all motions, and standing still."""

from __future__ import annotations

from typing import Protocol

import mujoco


class Motion(Protocol):
    """Brings the user's data to a given time: kinematic ones set its state, dynamic ones step the physics."""

    @property
    def duration_s(self) -> float | None:
        """When the motion ends by itself; None = never."""

    def advance(self, model: mujoco.MjModel, data: mujoco.MjData, time_s: float) -> None:
        """Bring ``data`` to simulation time ``time_s``, never earlier than at the call before.

        ``data.time`` and the positions (qpos, mocap poses) hold afterwards; what MuJoCo derives from them
        (xpos, sensordata) does so only after an ``mj_forward`` of the caller's.

        Raises:
            ScenarioError: the motion cannot go on.
        """


class Rest:
    """Nothing moves; time goes on."""

    duration_s: float | None = None

    def advance(self, model: mujoco.MjModel, data: mujoco.MjData, time_s: float) -> None:
        """Set the time."""
        data.time = time_s
