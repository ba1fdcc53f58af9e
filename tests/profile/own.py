"""A small device profile of one's own, which the tests break in one place at a time."""

from __future__ import annotations

OWN = """\
name: own_scanner
title: Own scanner
vendor: Ourselves
category: lidar
aliases: [own]
sources:
  bench: {title: "measured on the bench", status: primary}
  guess: {title: "guessed", status: unverified}
pattern:
  kind: spinning_free
  elevation_deg: [-1, 0, 1]
  fire_time_ns: [0, 1000, 2000]
  cycle_ns: 3000
  rpm: 600
  rpm_min: 300
  rpm_max: 1200
  clockwise: true
  source: {rest: bench, rpm: guess}
range:
  min_m: 0.5
  max_m: 30
  resolution_m: 0.001
  source: bench
noise:
  range_std_m: 0.01
  source: bench
nominal:
  points_per_s: 1000000
  horizontal_fov_deg: 360
  vertical_fov_deg: 2
  rows: 3
  return_modes: [single]
  source: bench
default_mode: slow
modes:
  slow: {pattern: {rpm: 600}}
  fast: {pattern: {rpm: 1200}}
"""
