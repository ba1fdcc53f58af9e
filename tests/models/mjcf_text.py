"""Lines of MJCF for the scene generators."""

from __future__ import annotations


def numbers(values):
    return " ".join(f"{round(float(v), 3) + 0.0:g}" for v in values)


def geom(kind, size, pos, material, **more):
    extra = "".join(f' {key}="{value}"' for key, value in more.items())
    return f'<geom type="{kind}" size="{numbers(size)}" pos="{numbers(pos)}" material="{material}"{extra}/>'


def capsule(radius, start, end, material):
    return f'<geom type="capsule" size="{radius:g}" fromto="{numbers(start)} {numbers(end)}" material="{material}"/>'


def indent(lines, depth=2):
    return "\n".join("  " * depth + line for line in lines)
