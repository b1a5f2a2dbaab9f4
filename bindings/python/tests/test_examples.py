"""The scripts of the folder `examples` run."""

import subprocess
import sys
from pathlib import Path

import pytest
from scenes import bal_text, scene

pytest.importorskip("matplotlib")
BUNDLE = Path(__file__).parent.parent / "examples" / "bundle.py"


def run(*arguments, **options):
    return subprocess.run([sys.executable, BUNDLE, *arguments], capture_output=True, text=True, timeout=120, **options)


def test_bundle_draws_a_picture(device, tmp_path):
    (tmp_path / "problem.txt").write_text(bal_text(*scene()))
    ran = run("problem.txt", "drawn.png", cwd=tmp_path)
    assert ran.returncode == 0, ran
    assert "5 cameras, 30 points, 90 observations" in ran.stdout and "converged" in ran.stdout
    assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")


def test_bundle_says_how_it_is_called():
    ran = run()
    assert ran.returncode == 1 and "bundle.py FILE [PICTURE]" in ran.stderr
