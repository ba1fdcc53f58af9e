"""What the tests of several commands share."""

from __future__ import annotations

import pytest


@pytest.fixture
def read_png():
    """Reads a picture as an array (rows, columns, channels)."""
    image = pytest.importorskip("matplotlib.image", reason="matplotlib comes with the extra 'plot'")
    return image.imread
