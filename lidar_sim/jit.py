"""The only door to Numba: one decorator per kind of kernel, its flags, its cache."""

from __future__ import annotations

import functools
import getpass
import hashlib
import importlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

# Intel's vector mathematics, where installed, rounds unlike the scalar remainder of a loop: batches would matter.
os.environ.setdefault("NUMBA_DISABLE_INTEL_SVML", "1")

import numba
import numba.core.event
import numba.experimental.function_type  # registers C functions by address as kernel arguments
from numba import get_num_threads, get_thread_id, literal_unroll, prange, set_num_threads, types


def _load_patient_threads() -> None:
    """Load GNU OpenMP, where Numba uses it, with threads that sleep while they wait.

    By default they spin: as soon as another process wants the cores, a parallel call of 1 ms takes 10. The
    library reads the variable once, when it is loaded; other libraries of the process find it as it was.
    """
    if "OMP_WAIT_POLICY" in os.environ:
        return
    os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
    try:
        importlib.import_module("numba.np.ufunc.omppool")
    except ImportError:
        pass  # this Numba came without OpenMP
    finally:
        del os.environ["OMP_WAIT_POLICY"]


_load_patient_threads()
if "NUMBA_THREADING_LAYER_PRIORITY" not in os.environ:
    # TBB first, as Numba has it, warns wherever another library (open3d) brought an older TBB along.
    numba.config.THREADING_LAYER_PRIORITY = ["omp", "tbb", "workqueue"]

__all__ = [
    "CFunction",
    "cache_folder",
    "get_num_threads",
    "get_thread_id",
    "inline_jit",
    "jit",
    "literal_unroll",
    "numba_version",
    "parallel_jit",
    "prange",
    "set_num_threads",
    "strict_jit",
    "types",
]

_PACKAGE = Path(__file__).resolve().parent

F = TypeVar("F", bound=Callable[..., Any])

# Plain fastmath would break isnan/isinf, by which misses are told from hits.
_FASTMATH = {"contract", "arcp", "nsz"}
_FLAGS: dict[str, Any] = {"error_model": "numpy", "fastmath": _FASTMATH, "nogil": True}


def numba_version() -> str:
    """Version of the installed Numba."""
    return str(numba.__version__)


@functools.cache
def _imported(module: str) -> frozenset[str]:
    """The modules of this package that one names in its imports; in the file's text, for nothing may be loaded here."""
    text = _source(module).read_text(encoding="utf-8")
    named = re.findall(r"^\s*from (lidar_sim[\w.]*) import (\([^)]*\)|.+)$", text, re.MULTILINE)
    parts = {f"{package}.{name}" for package, names in named for name in re.findall(r"\w+", names)}
    return frozenset(name for name in parts | {package for package, _ in named} if _source(name).is_file())


def _source(module: str) -> Path:
    path = _PACKAGE.parent.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _every_module() -> set[str]:
    paths = (path.relative_to(_PACKAGE.parent).with_suffix("") for path in _PACKAGE.rglob("*.py"))
    return {".".join(path.parts).removesuffix(".__init__") for path in paths}


@functools.cache
def sources_digest(module: str) -> str:
    """Hash of the Numba version and of every source file that a module of kernels is made of.

    Numba's own cache looks at the decorated file only: an edit in a function it calls from another file
    would silently bring back the old machine code. A module from outside may call any of ours.
    """
    ours = module.split(".", maxsplit=1)[0] == _PACKAGE.name
    known, to_read = {"lidar_sim.jit"}, {module} if ours else _every_module()
    while to_read:
        known |= to_read
        to_read = {name for one in to_read for name in _imported(one)} - known
    digest = hashlib.sha256(numba.__version__.encode())
    for name in sorted(known):
        digest.update(name.encode())
        digest.update(_source(name).read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def cache_folder() -> Path:
    """Folder of the compiled kernels; those of each module lie in one named after a hash of their sources.

    ``LIDAR_SIM_CACHE_DIR`` moves it; otherwise it lies in the user's cache folder, or, where that cannot
    be written (a read-only home), in the system's folder for temporary files.
    """
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    base = os.environ.get("LIDAR_SIM_CACHE_DIR") or os.path.join(home, "lidar_sim")
    folder = Path(base).expanduser() / "kernels"
    if _is_ours(folder):
        return folder
    shared = temporary_cache_folder()
    return shared if _is_ours(shared) else Path(tempfile.mkdtemp(prefix=f"{shared.name}-"))


def temporary_cache_folder() -> Path:
    """Where the kernels go when the user's own folders cannot be written: one place per user, found again."""
    user = os.getuid() if hasattr(os, "getuid") else getpass.getuser()
    return Path(tempfile.gettempdir()) / f"lidar_sim-kernels-{user}"


def _is_ours(folder: Path) -> bool:
    """Whether the folder can be written, and by nobody else: what lies in it will be executed."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            state = folder.stat()
    except OSError:
        return False
    return not hasattr(os, "getuid") or (state.st_uid == os.getuid() and not state.st_mode & 0o022)


def _decorate(function: F, **flags: Any) -> F:
    """Compile ``function`` with our flags; its cache lies in our folder, not beside the source.

    The folder is set for this decoration only, so that other users of Numba in the process keep theirs.
    """
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = before or str(cache_folder() / sources_digest(function.__module__))
    try:
        return numba.njit(cache=True, **{**_FLAGS, **flags})(function)  # type: ignore[no-any-return]
    finally:
        numba.config.CACHE_DIR = before


def jit(function: F) -> F:
    """Serial kernel: nopython, cached, without the GIL, IEEE division, NaN and inf kept."""
    return _decorate(function)


def inline_jit(function: F) -> F:
    """Small kernel that is written into its callers before types are found, and takes on their flags.

    So it is compiled where it is used and nowhere else: LLVM's own inlining would compile it once for itself and again
    in every function above it.
    """
    return _decorate(function, inline="always")


def strict_jit(function: F) -> F:
    """``jit`` without contraction or reciprocals: the same formula rounds alike wherever it stands."""
    return _decorate(function, fastmath=False)


def parallel_jit(function: F) -> F:
    """Kernel whose ``prange`` loops run on all threads."""
    return _decorate(function, parallel=True)


class _Told(numba.core.event.Listener):  # type: ignore[misc]
    """Passes on that a compilation begins."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell

    def on_start(self, event: Any) -> None:
        self._tell()

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def told_of_compiling(tell: Callable[[], None]) -> Iterator[None]:
    """Inside, ``tell`` is called before each kernel that has to be compiled, since the cache does not hold it."""
    listener = _Told(tell)
    numba.core.event.register("numba:compile", listener)
    try:
        yield
    finally:
        numba.core.event.unregister("numba:compile", listener)


class CFunction(types.WrapperAddressProtocol):  # type: ignore[misc]
    """A C function by address, callable from nopython code as an argument (so callers stay cacheable).

    Args:
        address: address of the function.
        signature: Numba signature of plain numbers; pointers are passed as ``types.intp`` addresses.
    """

    def __init__(self, address: int, signature: Any) -> None:
        self._address = address
        self._signature = signature

    def __wrapper_address__(self) -> int:
        return self._address

    def signature(self) -> Any:
        """Numba signature, asked for by Numba."""
        return self._signature
