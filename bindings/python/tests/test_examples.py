"""The scripts of the folder `examples` run."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import scipy.io
import scipy.sparse as sp
from scenes import bal_text, scene

EXAMPLES = Path(__file__).parent.parent / "examples"
has_plots = pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed")


def run(script, *arguments, **options):
    command = [sys.executable, EXAMPLES / script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


@has_plots
def test_bundle_draws_a_picture(device, tmp_path):
    (tmp_path / "problem.txt").write_text(bal_text(*scene()))
    ran = run("bundle.py", "problem.txt", "drawn.png", cwd=tmp_path)
    assert ran.returncode == 0, ran
    assert "5 cameras, 30 points, 90 observations" in ran.stdout and "converged" in ran.stdout
    assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")


@has_plots
def test_bundle_says_how_it_is_called():
    ran = run("bundle.py")
    assert ran.returncode == 1 and "bundle.py FILE [PICTURE]" in ran.stderr


def test_speed_compares_before_it_times(tmp_path):
    scipy.io.mmwrite(tmp_path / "eye.mtx", sp.eye_array(6))
    ran = run("speed.py", "eye.mtx:3", "eye.mtx", cwd=tmp_path)
    assert ran.returncode == 0, ran
    assert "eye.mtx:3: 6 rows, 18 entries" in ran.stdout and ran.stdout.count("SciPy") == 2
    ran = run("speed.py", "--rows", "50")
    assert ran.returncode == 0 and "random: 50 rows" in ran.stdout, ran
