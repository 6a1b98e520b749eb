"""The time to the first result: imports, and first queries with an empty and a filled cache of compiled code."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from statistics import median

_IMPORTS = {
    "gjk3d": "import gjk3d",
    "numpy": "import numpy",
    "coal": "import coal",
    "python-fcl": "import fcl",
    "mujoco": "import mujoco",
    "pybullet": "import pybullet",
    "distance3d": "import distance3d.gjk, distance3d.epa, distance3d.colliders",
}

_POSE = "import numpy as np; pose = np.eye(4); pose[0, 3] = {x}\n"

#: the code of the import and a first query, by name
_FIRST = {
    "gjk3d, collide": _POSE.format(x=0.9) + "import gjk3d as gk\nb = gk.Box((1, 1, 1)); gk.collide(b, b, None, pose)",
    "gjk3d, distance": _POSE.format(x=1.9) + "import gjk3d as gk\nb = gk.Box((1, 1, 1)); gk.distance(b, b, None, pose)",
    "gjk3d, signed_distance": _POSE.format(x=0.9)
    + "import gjk3d as gk\nb = gk.Box((1, 1, 1)); gk.signed_distance(b, b, None, pose)",
    "coal": _POSE.format(x=0.9) + "import coal\nb = coal.Box(1, 1, 1)\n"
    "coal.distance(b, coal.Transform3s(), b, coal.Transform3s(pose[:3, :3], pose[:3, 3].copy()),"
    " coal.DistanceRequest(), coal.DistanceResult())",
    "distance3d": _POSE.format(x=1.9) + "import distance3d.gjk, distance3d.colliders\n"
    "a, b = (distance3d.colliders.Box(p, np.ones(3)) for p in (np.eye(4), pose)); distance3d.gjk.gjk(a, b)",
}


def seconds_of(code: str, cache: str | None = None) -> float | None:
    """Return the CPU seconds of code in a fresh interpreter without its own start, or None if the code fails."""
    script = f"import time\nstart = time.process_time()\n{code}\nprint('took', time.process_time() - start)"
    environment = dict(os.environ)
    if cache is not None:
        environment |= {"GJK3D_CACHE_DIR": cache, "NUMBA_CACHE_DIR": cache}  # distance3d uses numba's cache
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, env=environment, check=False
    )
    line = [text for text in done.stdout.splitlines() if text.startswith("took ")]
    return float(line[-1].split()[1]) if done.returncode == 0 and line else None


def imports(repeats: int = 5) -> dict[str, float]:
    """Return the median CPU seconds of the import of each installed library."""
    medians = {}
    for name, code in _IMPORTS.items():
        times = [seconds_of(code) for _ in range(repeats)]
        measured = [t for t in times if t is not None]
        if measured:
            medians[name] = median(measured)
    return medians


def first_queries(repeats: int = 3) -> dict[str, tuple[float, float]]:
    """Return the CPU seconds up to a first result, with an empty and with a filled cache of compiled code.

    The seconds do not include the background compilation that the first process of gjk3d starts. The later processes
    start after `gjk3d warmup`.
    """
    seconds = {}
    for name, code in _FIRST.items():
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            cold = seconds_of(code, folder)
            if name.startswith("gjk3d"):
                environment = {**os.environ, "GJK3D_CACHE_DIR": folder}
                subprocess.run([sys.executable, "-m", "gjk3d", "warmup"], env=environment, check=True)
            warm = [seconds_of(code, folder) for _ in range(repeats)]
        measured = [t for t in warm if t is not None]
        if cold is not None and measured:
            seconds[name] = (cold, median(measured))
    return seconds
