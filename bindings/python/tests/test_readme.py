"""The blocks of README.md run in their order, and print what the README says."""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import blockmul

README = Path(__file__).parent.parent / "README.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A section that needs a device.
WHOLE_PROBLEMS = re.compile(r"^## Whole problems$.*?(?=^## )", re.MULTILINE | re.DOTALL)


def any_device():
    try:
        return any(device.float64 for device in blockmul.devices())
    except blockmul.NoDevice:
        return False


def blocks():
    """The language and text of each block."""
    text = README.read_text(encoding="utf-8")
    if not any_device():
        text = WHOLE_PROBLEMS.sub("", text)
    found = BLOCK.findall(text)
    assert found and {language for language, _ in found} <= {"python", "text", "console"}
    return found


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
