"""A YAML file as a tree, with the line of every key."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from lidar_sim.errors import ProfileError

Lines = Mapping[tuple[str, ...], int]
"""Place in the YAML tree -> line in the file; keys by name, list entries by number."""

_MERGE_TAG = "tag:yaml.org,2002:merge"
_FASTEST_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _UniqueKeyLoader(_FASTEST_LOADER):  # type: ignore[misc]
    """YAML's safe loader that refuses a key given twice instead of keeping the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            if key_node.tag == _MERGE_TAG:
                continue
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable) and key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key {key!r} is given twice", key_node.start_mark)
            seen.add(key if isinstance(key, Hashable) else id(key_node))
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def read_document(path: Path, what: str) -> tuple[dict[str, Any], Lines]:
    """Parsed tree, and the line number of every key and list entry.

    Args:
        path: of the file.
        what: what the file should be, for the message ("a device profile").

    Raises:
        ProfileError: not a text file, not YAML, a key given twice, or no mapping; with the line.
    """
    text = _text(path)
    try:
        loader = _UniqueKeyLoader(text)
        node = loader.get_single_node()
        lines = dict(_line_numbers(node, ()))
        tree = loader.construct_document(node) if node is not None else None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ProfileError(f"{path}:{line}: not valid YAML: {error.reason}") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ProfileError(f"{path}:{line}: not valid YAML: {error.problem}") from None
    if not isinstance(tree, dict):
        found = "an empty file" if tree is None else "a list" if isinstance(tree, list) else repr(tree)
        raise ProfileError(f"{path}:1: {what} is a mapping of keys, found {found}")
    return tree, lines


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ProfileError(f"{path}:{line}: not a text file (byte {error.start} is not UTF-8)") from None
    except OSError as error:
        raise ProfileError(f"{path}: cannot be read: {error.strerror}") from None


def _line_numbers(
    node: yaml.Node | None, at: tuple[str, ...], above: tuple[yaml.Node, ...] = ()
) -> Iterator[tuple[tuple[str, ...], int]]:
    if isinstance(node, yaml.MappingNode):
        below = [(str(key.value), key.start_mark.line, value) for key, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        below = [(str(i), value.start_mark.line, value) for i, value in enumerate(node.value)]
    else:
        return
    if any(node is other for other in above):
        raise yaml.constructor.ConstructorError(None, None, "an anchor contains itself", node.start_mark)
    for name, line, value in below:
        yield (*at, name), line + 1
        yield from _line_numbers(value, (*at, name), (*above, node))
