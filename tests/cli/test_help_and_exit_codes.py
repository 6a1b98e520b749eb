"""The ``gjk3d`` command: help, version, exit codes, interrupts and lazy imports."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import pytest
from message_checks import assert_names

import gjk3d as gk

COMMANDS = ("check", "clash", "diff", "triage", "serve", "explain", "info", "robot", "replay", "warmup", "doctor")


def _python(*argv: str, **more):
    return subprocess.run([sys.executable, *argv], capture_output=True, text=True, timeout=60, check=False, **more)


@pytest.mark.full
def test_help_imports_no_heavy_package():
    code = """
import sys
from gjk3d.cli.app import main
code = main(["--help"])
heavy = {"numba", "scipy", "trimesh", "pyvista", "numpy"} & set(sys.modules)
sys.exit(f"loaded {heavy}" if heavy or code else 0)
"""
    done = _python("-c", code)
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in (*COMMANDS, "Exit codes"))


@pytest.mark.parametrize(
    "command", ["check", "clash", "diff", "explain", "info", "robot", "replay", "warmup", "doctor"]
)
def test_each_command_has_help(run, command):
    result = run(command, "--help")
    assert (result.code, result.err) == (0, "")
    assert f"gjk3d {command}" in result.out


def test_check_help_describes_models_and_poses(run):
    words = " ".join(run("check", "--help").out.replace("│", " ").split())
    assert_names(words, "convex hull", "rotation vector", "radians", "FILE#PART")


def test_version(run):
    result = run("--version")
    assert result.code == 0
    assert result.out == f"gjk3d {gk.__version__}\n"


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["chek"], '"check"?'),
        (["check", "a.stl"], "parameter B"),
        (["check", "a.stl", "b.stl", "c.stl"], "c.stl"),
        (["check", "a.stl", "b.stl", "--bla"], "--bla"),
        (["check", "a.stl", "b.stl", "--tol", "wide"], "--tol"),
        (["check", "a.stl", "b.stl", "--depth", "deep"], "--depth"),
        (["check", "a.stl", "b.stl", "--pose-b"], "--pose-b"),
        (["\x1b[2J"], r"\x1b[2J"),
        (["check", "a.stl", ""], "argument 3 is empty"),
        (["robot", "info", ""], "argument 3 is empty"),
    ],
)
def test_bad_usage_exits_with_2(run, argv, message):
    result = run(*argv)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert "--help" in result.err
    assert "\x1b" not in result.err


def test_no_command_prints_help_on_stderr(run):
    result = run()
    assert (result.code, result.out) == (2, "")
    assert "check" in result.err


def test_bug_exits_with_70_and_traceback_only_in_debug_mode(run, box, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("oh \x1b[2J")

    monkeypatch.setattr(gk, "signed_distance", fail, raising=False)
    path = box()
    result = run("check", path, path)
    assert (result.code, result.out) == (70, "")
    assert re.match(r"error: .*ZeroDivisionError: oh \\x1b\[2J\n", result.err)
    assert "report" in result.err
    assert "Traceback" not in result.err
    assert "Traceback" in run("check", path, path, "--debug").err
    monkeypatch.setenv("GJK3D_DEBUG", "1")
    result = run("check", path, path)
    assert result.code == 70
    assert "Traceback" in result.err


def test_missing_extra_exits_with_2_other_import_error_with_70(run, box, monkeypatch):
    for message, code in (('needs lxml: pip install "gjk3d[io]"', 2), ("cannot import name 'x'", 70)):

        def fail(*_, message=message, **__):
            raise ImportError(message)

        monkeypatch.setattr(gk, "load", fail, raising=False)
        result = run("info", box())
        assert result.code == code
        assert message in result.err


def test_permission_error_exits_with_2(run, box, monkeypatch):
    def fail(*_, **__):
        raise PermissionError(13, "Permission denied", "x\x1b.stl")

    monkeypatch.setattr(gk, "load", fail, raising=False)
    result = run("info", box())
    assert (result.code, result.err) == (2, "error: Permission denied: 'x\\x1b.stl'\n")


def test_memory_error_exits_with_2(run, box, monkeypatch):
    for words in ("Unable to allocate 728. TiB", ""):

        def fail(*_, words=words, **__):
            raise MemoryError(words)

        monkeypatch.setattr(gk, "load", fail, raising=False)
        result = run("info", box())
        assert result.code == 2
        assert_names(result.err, "error: ", "memory", words)
        assert len(result.err.splitlines()) == 1


def test_interrupt_exits_with_130(run, box, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(gk, "load", stop, raising=False)
    result = run("info", box())
    assert (result.code, result.err) == (130, "gjk3d: interrupted\n")


@pytest.mark.full
def test_ascii_terminal_gets_escaped_text_without_colour(box):
    path = box("größe.stl")
    environment = os.environ | {"PYTHONIOENCODING": "ascii:strict", "TERM": "dumb", "FORCE_COLOR": ""}
    done = _python("-m", "gjk3d", "check", str(path), str(path), env=environment)
    assert done.returncode == 1, done.stderr
    assert r"gr\xf6\xdfe.stl" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.full
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send")
def test_ctrl_c_stops_a_process(tmp_path):
    pipe = tmp_path / "never.stl"
    code = f"""
import signal, sys, time, gjk3d
from gjk3d.cli.app import main
def load(*_, **__):
    print("reading", flush=True)
    time.sleep(60)
gjk3d.load = load
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job starts with it ignored
sys.exit(main(["info", {str(pipe)!r}]))
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout.readline() == "reading\n"
        child.send_signal(signal.SIGINT)
        _, message = child.communicate(timeout=30)
    assert (child.returncode, message) == (130, "gjk3d: interrupted\n")


@pytest.mark.full
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send")
@pytest.mark.parametrize("name", ["cyclopts", "trimesh"])
def test_ctrl_c_during_import_exits_with_130(tmp_path, name):
    """An interrupt during an import prints no stack trace, and the imported module cannot swallow it."""
    (tmp_path / f"{name}.py").write_text(
        "import os, signal, time\n"
        "try:\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    pass\n"
    )
    model = tmp_path / "a.obj"
    model.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    code = f"""
import signal, sys
sys.path.insert(0, {str(tmp_path)!r})
sys.argv = ["gjk3d", "check", {str(model)!r}, {str(model)!r}]
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job starts with it ignored
from gjk3d.__main__ import main
sys.exit(main())
"""
    done = _python("-c", code)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "gjk3d: interrupted\n")


def test_clash_help_keeps_asterisks_of_a_pattern(run):
    text = " ".join(run("clash", "--help").out.replace("│", " ").split())
    assert "*/Storey 1/*" in text


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("check", ("--image --picture", "--tol --tolerance", "--hulls --hull")),
        ("clash", ("--a --parts-a", "--b --parts-b", "--section --section-plane")),
        ("explain", ("--png --picture", "--gif --animation")),
        ("view", ("--save --output -o", "--hull --hulls")),
        ("robot path", ("--picture --image", "--animation --gif")),
        ("robot pairs", ("--acm --output -o",)),
        ("robot safety", ("--report --html",)),
    ],
)
def test_options_accept_names_from_other_commands(run, command, names):
    assert_names(run(*command.split(), "--help").out, *names)
