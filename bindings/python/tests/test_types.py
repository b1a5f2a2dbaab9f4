"""Annotations: the stub of the compiled module, and what a type checker makes of each call."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import blockmul
import pytest

pytest.importorskip("mypy")
if find_spec("scipy-stubs") is None:
    pytest.skip("SciPy's annotations are not installed", allow_module_level=True)

CALLS = """
from typing import Any, assert_type

import blockmul
import numpy as np
import scipy.sparse as sp

csr: sp.csr_array[np.float64] = sp.csr_array(np.eye(3))
bsr: sp.bsr_matrix[np.float64] = sp.bsr_matrix(np.eye(3))
coo: sp.coo_array[np.float64] = sp.coo_array(np.eye(3))
dense = np.eye(3)

a: sp.csr_array[Any] = blockmul.multiply(csr, bsr, device="host", threads=1, method="esc")
b: sp.bsr_matrix[Any] = blockmul.multiply(bsr, csr, device=0)
c: sp.csr_array[Any] = blockmul.multiply(coo, csr, device=blockmul.devices()[0])
d: np.ndarray[Any, Any] = blockmul.multiply(csr, dense)
e: np.ndarray[Any, Any] = blockmul.multiply(dense, csr)
f: sp.csr_array[Any] = blockmul.gram(coo, part="lower")
g: sp.bsr_matrix[Any] = blockmul.masked(bsr, csr, coo)
h: sp.csr_array[Any] = blockmul.Plan(csr, bsr).execute(csr, bsr)
on_a, x = blockmul.DeviceMatrix(csr, device=0), blockmul.DeviceVector(np.ones(3))
assert_type(on_a @ on_a.T, blockmul.DeviceMatrix)
assert_type(on_a @ x, blockmul.DeviceVector)
assert_type(x @ on_a, blockmul.DeviceVector)
assert_type(blockmul.multiply(on_a, on_a, method="esc"), blockmul.DeviceMatrix)
assert_type(blockmul.multiply(on_a, x), blockmul.DeviceVector)
assert_type(blockmul.apply(on_a, x), blockmul.DeviceVector)
assert_type(blockmul.gram(on_a, part="upper"), blockmul.DeviceMatrix)
assert_type(blockmul.masked(on_a, on_a, on_a), blockmul.DeviceMatrix)
plan = blockmul.Plan(on_a, on_a)
assert_type(plan.execute(on_a, on_a, out=on_a @ on_a), blockmul.DeviceMatrix)
i: sp.csr_array[Any] | sp.csc_array[Any] | sp.bsr_array[Any] = on_a.to_scipy()
j: sp.csr_matrix[Any] | sp.csc_matrix[Any] | sp.bsr_matrix[Any] = on_a.to_scipy("matrix")
k: np.ndarray[Any, Any] = x.to_numpy()
on_a.update(csr)
queue: Any = None
device = blockmul.Device.from_queue(queue)
device.wait_for([device.marker(), 7])
assert_type(device.marker(), blockmul.Marker)
assert_type(device.context_ptr, int)
lent = blockmul.DeviceMatrix.from_buffers("csr", (3, 3), None, "f8", queue, queue, queue, device=device)
assert_type(lent, blockmul.DeviceMatrix)
ran = blockmul.report()
assert_type(ran["products"] if ran else 0, int)
assert_type(blockmul.devices()[0].kind in ("gpu", "cpu"), bool)

given = blockmul.read_bal("problem.txt")
moved = blockmul.bundle_adjust(*given, hold=[0], loss="huber:1", callback=lambda it: it.cost < 1)
assert_type(moved.summary.iterations[0].conjugate_steps, int | None)
graph = blockmul.read_g2o("graph.g2o")
poses, summary = blockmul.pose_graph(graph.poses, graph.i, graph.j, graph.measurements, hold=graph.hold)
assert_type(summary.converged, bool)
both = blockmul.pose_graph(
    graph.poses,
    graph.i,
    graph.j,
    graph.measurements,
    landmarks=graph.landmarks,
    sighting_pose=graph.sighting_pose,
    sighting_landmark=graph.sighting_landmark,
    sightings=graph.sightings,
)
assert_type(both, blockmul.GraphSolution)

blockmul.bundle_adjust(*given, method="newton")  # type: ignore[arg-type]
blockmul.gram(csr, part="left")  # type: ignore[call-overload]
blockmul.multiply(csr, dense, method="esc")  # type: ignore[call-overload]
blockmul.multiply(csr, "dense")  # type: ignore[call-overload]
blockmul.multiply(on_a, csr)  # type: ignore[call-overload]
on_a @ csr  # type: ignore[operator]
blockmul.Plan(on_a, csr)  # type: ignore[call-overload]
"""


def mypy(module, *arguments):
    path = str(Path(blockmul.__file__).parent.parent)
    ran = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "MYPYPATH": path} if "site-packages" not in path else None,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_stub_is_the_module():
    mypy("mypy.stubtest", "blockmul._blockmul")


def test_a_checker_knows_each_result(tmp_path):
    (tmp_path / "calls.py").write_text(CALLS)
    mypy("mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(tmp_path / "calls.py"))
