"""The blocks of README.md run in their order, and print what the README says.

Blocks marked `device` or `pyopencl` are left out where there is none.
"""

import contextlib
import io
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import blockmul

README = Path(__file__).parent.parent / "README.md"
BLOCK = re.compile(r"^```(\w*)(?: (device|pyopencl))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def has_device():
    try:
        return any(device.float64 for device in blockmul.devices())
    except blockmul.NoDevice:
        return False


def blocks():
    """The language and text of each block that can run here."""
    found = BLOCK.findall(README.read_text(encoding="utf-8"))
    assert found and {language for language, _, _ in found} <= {"python", "text", "console"}
    has = {"": True, "device": has_device()}
    has["pyopencl"] = has["device"] and find_spec("pyopencl") is not None
    return [(language, text) for language, needed, text in found if has[needed]]


def matches(printed, expected):
    """Equality, where `...` in the README stands for anything."""
    pattern = ".*".join(re.escape(part) for part in expected.split("..."))
    return re.fullmatch(pattern, printed, re.DOTALL) is not None


def test_the_blocks_run_and_print_what_follows():
    names, printed = {}, None
    for language, text in blocks():
        if language == "text":
            assert printed == text
            printed = None
        elif language == "python":
            assert not printed, f"the README leaves out what is printed: {printed}"
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(text, str(README), "exec"), names)
            printed = output.getvalue()
    assert not printed


def test_the_commands_print_what_follows():
    commands = [text for language, text in blocks() if language == "console"]
    assert commands
    for text in commands:
        command, expected = text.split("\n", 1)
        python, *arguments = command.removeprefix("$ ").split()
        assert python == "python"
        ran = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=60)
        assert ran.returncode == 0 and matches(ran.stdout, expected), ran
