"""Every beam exactly once, in order, at its own instant (promises 1, 2 and 4)."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lidar_sim.errors import OptionError, TimeError
from lidar_sim.profile import load_profile, shipped_profiles
from lidar_sim.records import Firings, Keyframe, RayBatch
from lidar_sim.schedule import MOTIONS, Scheduler
from lidar_sim.transforms import quaternion_multiply, quaternion_to_matrix, rotate_vectors

# Ten roundings of positions near 10 m.
MOTION = 1e-12
POWER_ON_NS = 1_234_567_891
SPAN_NS = 10_000_000

Pieces = list[tuple[Firings, RayBatch]]


def keyframe(time_ns: int, position: Sequence[float] = (1.1, 2.3, 0.7), turn_rad: float = 0.3) -> Keyframe:
    axis = np.array([0.6, 0.0, 0.8])
    quaternion = np.concatenate([[np.cos(turn_rad / 2)], np.sin(turn_rad / 2) * axis])
    return Keyframe(time_ns, np.array(position, np.float64), quaternion, None)  # type: ignore[arg-type]


def moved(time_ns: int) -> Keyframe:
    """On a straight line at 10 m/s, turning at 40 rad/s, wherever the caller asks."""
    s = (time_ns - POWER_ON_NS) * 1e-9
    return keyframe(time_ns, (1.0 + 10.0 * s, 2.0 - 3.0 * s, 0.5 * s), 40.0 * s)


def started(pattern, **options) -> Scheduler:
    scheduler = Scheduler(pattern, **options)
    scheduler.start(keyframe(POWER_ON_NS))
    return scheduler


def joined(pieces: Iterable[tuple[Firings, RayBatch]]) -> dict[str, np.ndarray]:
    """All fields of all pieces, one after the other."""
    pieces = list(pieces)
    columns = {}
    for position, kind in enumerate((Firings, RayBatch)):
        for field in dataclasses.fields(kind):
            parts = [getattr(piece[position], field.name) for piece in pieces]
            columns[f"{kind.__name__}.{field.name}"] = np.concatenate(parts) if parts else np.empty(0)
    return columns


def sliced(scheduler: Scheduler, borders: Iterable[int]) -> Pieces:
    return [piece for t0, t1 in itertools.pairwise(borders) for piece in scheduler.due(t0, t1)]


def assert_equal_bits(a: dict[str, np.ndarray], b: dict[str, np.ndarray], fields: Iterable[str] | None = None) -> None:
    for name in a if fields is None else fields:
        assert a[name].dtype == b[name].dtype
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def whole(pattern, before: Keyframe, after: Keyframe, **options) -> dict[str, np.ndarray]:
    scheduler = Scheduler(pattern, **options)
    scheduler.start(before)
    scheduler.add(after)
    return joined(scheduler.due(before.time_ns, after.time_ns))


CUTS = st.lists(st.integers(0, SPAN_NS), max_size=12)


@given(cuts=CUTS, max_beams=st.integers(50, 5000))
def test_slices_of_one_interval_give_the_same_rays_bit_for_bit(pattern, cuts, max_beams) -> None:
    before, after = moved(POWER_ON_NS), moved(POWER_ON_NS + SPAN_NS)
    borders = [POWER_ON_NS + cut for cut in sorted([0, SPAN_NS, *cuts])]
    scheduler = Scheduler(pattern, max_beams=max_beams)
    scheduler.start(before)
    scheduler.add(after)
    assert_equal_bits(joined(sliced(scheduler, borders)), whole(pattern, before, after))


@given(cuts=CUTS)
def test_at_rest_any_steps_give_the_same_rays_bit_for_bit(pattern, cuts) -> None:
    expected = whole(pattern, keyframe(POWER_ON_NS), keyframe(POWER_ON_NS + SPAN_NS))
    scheduler = started(pattern)
    pieces: Pieces = []
    for t0, t1 in itertools.pairwise(sorted({0, SPAN_NS, *cuts})):
        scheduler.add(keyframe(POWER_ON_NS + t1))
        pieces += scheduler.due(POWER_ON_NS + t0, POWER_ON_NS + t1)
    stepped = joined(pieces)
    assert_equal_bits(stepped, expected, [name for name in expected if name != "RayBatch.phase"])


@given(cuts=CUTS)
def test_in_motion_any_steps_give_every_firing_once(pattern, cuts) -> None:
    scheduler = Scheduler(pattern)
    scheduler.start(moved(POWER_ON_NS))
    pieces: Pieces = []
    for t0, t1 in itertools.pairwise(sorted({0, SPAN_NS, *cuts})):
        scheduler.add(moved(POWER_ON_NS + t1))
        pieces += scheduler.due(POWER_ON_NS + t0, POWER_ON_NS + t1)
    columns = joined(pieces)
    count = pattern.index_at(SPAN_NS)
    np.testing.assert_array_equal(columns["Firings.index"], np.arange(count))
    np.testing.assert_array_equal(columns["RayBatch.time_ns"], POWER_ON_NS + columns["Firings.time_ns"])
    one_step = whole(pattern, moved(POWER_ON_NS), moved(POWER_ON_NS + SPAN_NS))
    for name in ("RayBatch.origin", "RayBatch.direction"):  # this motion is what the interpolation assumes
        np.testing.assert_allclose(columns[name], one_step[name], atol=MOTION)


@pytest.mark.parametrize("name", shipped_profiles())
def test_a_shipped_device_gives_every_firing_once(name) -> None:
    make_pattern = pytest.importorskip("lidar_sim.pattern").make_pattern
    pattern = make_pattern(load_profile(name))
    expected = whole(pattern, moved(POWER_ON_NS), moved(POWER_ON_NS + 4 * SPAN_NS))
    borders = [0, 1, 2_000_000, 2_000_001, 7_777_777, 4 * SPAN_NS]
    scheduler = Scheduler(pattern, max_beams=1777)
    scheduler.start(moved(POWER_ON_NS))
    scheduler.add(moved(POWER_ON_NS + 4 * SPAN_NS))
    columns = joined(sliced(scheduler, [POWER_ON_NS + border for border in borders]))
    assert_equal_bits(columns, expected)
    np.testing.assert_array_equal(columns["Firings.index"], np.arange(pattern.index_at(4 * SPAN_NS)))
    assert len(columns["Firings.index"]) > 0
    assert np.all(np.diff(columns["RayBatch.time_ns"]) >= 0)
    assert np.all(columns["RayBatch.time_ns"] < POWER_ON_NS + 4 * SPAN_NS)


def test_each_beam_is_where_the_sensor_is_at_its_own_time(pattern) -> None:
    columns = whole(pattern, moved(POWER_ON_NS), moved(POWER_ON_NS + SPAN_NS))
    for row in range(0, len(columns["Firings.index"]), 97):
        at = moved(int(columns["RayBatch.time_ns"][row]))  # the closed form, from the time alone
        rotation = quaternion_to_matrix(at.quaternion)
        origin = at.position + rotation @ columns["Firings.origin"][row]
        np.testing.assert_allclose(columns["RayBatch.origin"][row], origin, atol=MOTION)
        np.testing.assert_allclose(
            columns["RayBatch.direction"][row], rotation @ columns["Firings.direction"][row], atol=MOTION
        )
    np.testing.assert_allclose(columns["RayBatch.phase"], columns["Firings.time_ns"] / SPAN_NS, atol=MOTION)
    np.testing.assert_allclose(np.linalg.norm(columns["RayBatch.direction"], axis=1), 1.0, atol=MOTION)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_sign_of_a_quaternion_means_nothing(pattern, sign) -> None:
    before, after = moved(POWER_ON_NS), moved(POWER_ON_NS + SPAN_NS)
    flipped = dataclasses.replace(after, quaternion=sign * after.quaternion)
    assert_equal_bits(whole(pattern, before, flipped), whole(pattern, before, after))


def test_a_beam_on_the_border_belongs_to_the_interval_that_begins_there(pattern) -> None:
    times = np.unique(pattern.firings(0, 2000).time_ns)
    border = int(times[times < SPAN_NS][-1])
    scheduler = started(pattern)
    scheduler.add(keyframe(POWER_ON_NS + border))
    earlier = joined(scheduler.due(POWER_ON_NS, POWER_ON_NS + border))
    scheduler.add(keyframe(POWER_ON_NS + border + 1))
    later = joined(scheduler.due(POWER_ON_NS + border, POWER_ON_NS + border + 1))
    assert np.all(earlier["Firings.time_ns"] < border)
    assert len(later["Firings.time_ns"]) == pattern.index_at(border + 1) - pattern.index_at(border) > 0
    assert np.all(later["Firings.time_ns"] == border)
    assert np.all(later["RayBatch.phase"] == 0.0)


@pytest.mark.parametrize("max_beams", [1, 13, 100_000])
def test_pieces_are_bounded_and_never_empty(pattern, max_beams) -> None:
    scheduler = started(pattern, max_beams=max_beams)
    scheduler.add(keyframe(POWER_ON_NS + SPAN_NS))
    sizes = [(len(firings), len(rays)) for firings, rays in scheduler.due(POWER_ON_NS, POWER_ON_NS + SPAN_NS)]
    assert all(a == b and 1 <= a <= max_beams for a, b in sizes)
    assert all(a == max_beams for a, _ in sizes[:-1])
    assert list(scheduler.due(POWER_ON_NS + SPAN_NS, POWER_ON_NS + SPAN_NS)) == []


def test_pieces_are_made_when_they_are_fetched(pattern) -> None:
    class Counting:
        def __init__(self) -> None:
            self.made = 0

        def index_at(self, time_ns: int) -> int:
            return pattern.index_at(time_ns)

        def firings(self, first: int, last: int) -> Firings:
            self.made += 1
            return pattern.firings(first, last)

    counting = Counting()
    scheduler = started(counting, max_beams=10)
    scheduler.add(keyframe(POWER_ON_NS + SPAN_NS))
    pieces = scheduler.due(POWER_ON_NS, POWER_ON_NS + SPAN_NS)
    assert counting.made == 0
    next(pieces)
    assert counting.made == 1


def test_frozen_takes_a_whole_interval_at_the_last_pose(pattern) -> None:
    after = moved(POWER_ON_NS + SPAN_NS)
    columns = whole(pattern, moved(POWER_ON_NS), after, motion="frozen")
    rotated = rotate_vectors(after.quaternion, columns["Firings.direction"])
    np.testing.assert_allclose(columns["RayBatch.direction"], rotated, atol=MOTION)
    origin = after.position + rotate_vectors(after.quaternion, columns["Firings.origin"])
    np.testing.assert_allclose(columns["RayBatch.origin"], origin, atol=MOTION)
    assert np.all(columns["RayBatch.phase"] == 1.0)
    np.testing.assert_array_equal(columns["RayBatch.time_ns"], POWER_ON_NS + columns["Firings.time_ns"])


def test_a_scene_at_rest_by_number_is_the_same_as_by_time(pattern) -> None:
    by_time = whole(pattern, keyframe(POWER_ON_NS), keyframe(POWER_ON_NS + SPAN_NS))
    last = len(by_time["Firings.index"])
    by_number = joined(Scheduler(pattern, max_beams=100).at(keyframe(POWER_ON_NS), 0, last))
    assert_equal_bits(by_number, by_time, [name for name in by_time if name != "RayBatch.phase"])
    assert np.all(by_number["RayBatch.phase"] == 0.0)


def test_a_scene_at_rest_starts_its_time_at_its_first_beam(pattern) -> None:
    frame = joined(Scheduler(pattern).at(keyframe(77), 700, 1400))
    np.testing.assert_array_equal(frame["Firings.index"], np.arange(700, 1400))
    elapsed = frame["Firings.time_ns"] - pattern.firings(700, 701).time_ns[0]
    np.testing.assert_array_equal(frame["RayBatch.time_ns"], 77 + elapsed)
    assert list(Scheduler(pattern).at(keyframe(77), 5, 5)) == []


def test_restarting_begins_again_at_beam_zero(pattern) -> None:
    scheduler = started(pattern)
    scheduler.add(keyframe(POWER_ON_NS + SPAN_NS))
    first = joined(scheduler.due(POWER_ON_NS, POWER_ON_NS + SPAN_NS))
    scheduler.start(keyframe(0))
    scheduler.add(keyframe(SPAN_NS))
    again = joined(scheduler.due(0, SPAN_NS))
    assert_equal_bits(first, again, ["Firings.index", "RayBatch.direction", "RayBatch.origin"])
    np.testing.assert_array_equal(again["RayBatch.time_ns"], again["Firings.time_ns"])


@pytest.mark.parametrize(
    ("t0", "t1", "message"),
    [
        (0, 5, "was given already, up to 40 ns"),
        (39, 60, "was given already, up to 40 ns"),
        (40, 101, "reaches beyond the last pose, at 100 ns"),
        (60, 50, "ends before it begins"),
        (50, 60, r"leaves out the beams of \[40, 50\) ns"),
        (-5, -1, "was given already"),
    ],
)
def test_intervals_out_of_order_are_refused_and_change_nothing(pattern, t0, t1, message) -> None:
    scheduler = Scheduler(pattern)
    scheduler.start(keyframe(0))
    scheduler.add(keyframe(100))
    first = list(scheduler.due(0, 40))
    with pytest.raises(TimeError, match=message):
        scheduler.due(t0, t1)  # at the call, not at the first piece
    rest = list(scheduler.due(40, 100))
    assert sum(len(rays) for _, rays in first + rest) == pattern.index_at(100)


@pytest.mark.parametrize("time_ns", [100, 99, -1])
def test_time_must_increase(pattern, time_ns) -> None:
    scheduler = Scheduler(pattern)
    scheduler.start(keyframe(0))
    scheduler.add(keyframe(100))
    list(scheduler.due(0, 100))
    with pytest.raises(TimeError, match=rf"must increase: {time_ns} ns came after 100 ns"):
        scheduler.add(keyframe(time_ns))


def test_beams_cannot_be_forgotten(pattern) -> None:
    scheduler = Scheduler(pattern)
    scheduler.start(keyframe(0))
    scheduler.add(keyframe(100))
    list(scheduler.due(0, 40))
    with pytest.raises(TimeError, match=r"beams of \[40, 100\) ns were not asked for"):
        scheduler.add(keyframe(200))


def test_nothing_is_due_before_power_on(pattern) -> None:
    scheduler = Scheduler(pattern)
    for call in (lambda: scheduler.add(keyframe(1)), lambda: scheduler.due(0, 1)):
        with pytest.raises(TimeError, match="no pose yet"):
            call()


@pytest.mark.parametrize(
    ("options", "message"),
    [({"motion": "rollin"}, r"did you mean 'rolling'"), ({"max_beams": 0}, "at least 1, found 0")],
)
def test_wrong_options_name_the_right_ones(pattern, options, message) -> None:
    with pytest.raises(OptionError, match=message):
        Scheduler(pattern, **options)
    assert MOTIONS == ("rolling", "frozen")


@pytest.mark.parametrize(("first", "last"), [(-1, 5), (5, 4)])
def test_a_range_that_is_none_is_refused(pattern, first, last) -> None:
    with pytest.raises(OptionError, match="no range"):
        Scheduler(pattern).at(keyframe(0), first, last)


def test_a_turn_of_the_track_is_a_turn_of_the_beams(pattern) -> None:
    """Turning the whole world turns every ray: nothing in the schedule prefers an axis."""
    by = np.array([0.5, 0.5, -0.5, 0.5])
    before, after = moved(POWER_ON_NS), moved(POWER_ON_NS + SPAN_NS)
    turned = [
        Keyframe(k.time_ns, rotate_vectors(by, k.position), quaternion_multiply(by, k.quaternion), k.world)
        for k in (before, after)
    ]
    plain, other = whole(pattern, before, after), whole(pattern, *turned)
    for name in ("RayBatch.origin", "RayBatch.direction"):
        np.testing.assert_allclose(other[name], rotate_vectors(by, plain[name]), atol=MOTION)
