"""`python -m blockmul`: versions and devices."""

import platform
import sys

import numpy
import scipy

from . import NoDevice, devices
from ._blockmul import __version__


def main() -> int:
    versions = f"Python {platform.python_version()}, NumPy {numpy.__version__}, SciPy {scipy.__version__}"
    print(f"blockmul {__version__}, {versions}")
    try:
        found = devices()
    except NoDevice as error:
        print(f"no OpenCL device, so products run on the host's cores: {error}")
        return 0
    for device in found:
        doubles = "" if device.float64 else ", no float64"
        about = f"{device.kind}, {device.memory / 2**30:.1f} GiB{doubles}"
        print(f"{device.index}: {device.name} ({device.platform}), {about}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
