"""Tests of the installed package. Those on a device are skipped where there is no OpenCL."""

import os

import pytest

# A device that the caller's environment names would move all products there.
os.environ.pop("BLOCKMUL_DEVICE", None)

import blockmul


@pytest.fixture(scope="session")
def device():
    """A device, if possible a processor."""
    try:
        found = blockmul.devices()
    except blockmul.NoDevice as error:
        pytest.skip(f"no OpenCL: {error}")
    found = [each for each in found if each.float64]
    if not found:
        pytest.skip("no device computes in float64")
    return min(found, key=lambda each: each.kind != "cpu")


@pytest.fixture(scope="session")
def places():
    """The host, and a device if there is one."""
    try:
        return ["host"] + [each for each in blockmul.devices() if each.float64][:1]
    except blockmul.NoDevice:
        return ["host"]
