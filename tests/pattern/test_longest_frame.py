"""A frame that is too long for the point times of a scan is refused, not wrapped."""

from __future__ import annotations

import pytest

from lidar_sim.errors import ProfileError
from lidar_sim.pattern import make_pattern
from lidar_sim.profile import DeviceProfile, load_profile


def slowed(rate_hz: float) -> DeviceProfile:
    """A 2D scanner that turns at another rate."""
    profile = load_profile("tim571")
    return profile.model_copy(update={"pattern": profile.pattern.model_copy(update={"rate_hz": rate_hz})})


def test_a_frame_of_ten_seconds_is_refused() -> None:
    with pytest.raises(ProfileError, match=r"sick_tim571: a frame lasts 10 s; valid: below 4\.2 s"):
        make_pattern(slowed(0.1))


def test_the_slowest_frame_still_fits_its_times() -> None:
    pattern = make_pattern(slowed(0.25))
    frame = pattern.firings(pattern.frame_start(0), pattern.frame_start(1))
    assert int(frame.time_ns[-1] - frame.time_ns[0]) < 2**32
