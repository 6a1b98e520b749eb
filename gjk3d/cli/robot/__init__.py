"""``gjk3d robot``, whose commands are in `info`, `check` and `path`.

This module also accepts the old options, and prints the command that replaces them. `cell` has the code that all
commands share: options, printing, configurations, and the robot with its surroundings.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from gjk3d.cli.arguments import UsageError
from gjk3d.cli.robot.cell import MODEL, NO_SURROUNDINGS, RUN, Flag, Model, Run, Surroundings, at_least
from gjk3d.cli.robot.check import check
from gjk3d.cli.robot.info import info, pairs
from gjk3d.cli.robot.path import SAMPLED, Sampling, path, safety
from gjk3d.cli.terminal import note
from gjk3d.wording import expected_names


@Parameter(name="*", show=False)
@dataclass(frozen=True)
class OldOptions:
    """The options of ``gjk3d robot URDF`` without a command. The help does not show them."""

    check: str | None = None
    random: int | None = None
    path: str | None = None
    acm: Path | None = None
    clearance: Flag = False
    samples: int = 10_000
    seed: int = 0
    top: int = 20
    picture: Path | None = None
    animation: Path | None = None
    look: Sampling = SAMPLED
    model: Model = MODEL
    around: Surroundings = NO_SURROUNDINGS
    output: Run = RUN

    def refuse(self) -> None:
        """Raise an error for options that contradict each other."""
        modes_given = {"--check": self.check, "--random": self.random, "--path": self.path, "--acm": self.acm}
        modes = [name for name, value in modes_given.items() if value is not None]
        if len(modes) > 1:
            raise UsageError(f"{' and '.join(modes)} cannot be combined. Use one of them.")
        mode = modes[0] if modes else ""
        if self.look.certify and mode != "--path":
            raise UsageError("--certify needs a path. Name it with --path.")
        if self.animation is not None and mode != "--path":
            raise UsageError("--animation needs a path. Name it with --path.")
        if self.clearance and mode not in ("--check", "--random"):
            raise UsageError("--clearance needs configurations. Name them with --check or --random.")
        if self.output.csv and mode in ("", "--acm"):
            raise UsageError("--csv needs configurations or a path. Name them with --check, --random or --path.")
        if self.picture is not None and mode == "--acm":
            raise UsageError("--picture shows configurations or a path, and --acm has neither. Leave out --picture.")
        at_least(samples=self.samples, top=self.top, seed=self.seed)


_NOTHING = OldOptions()


def old(
    urdf: Annotated[Path, Parameter(show=False)],
    /,
    *more: Annotated[str, Parameter(show=False)],
    options: OldOptions = _NOTHING,
) -> int | None:
    """Print and run the command that replaces the old options. Old options that the new command lacks are ignored."""
    if more:
        raise UsageError(
            f"{str(urdf)!r} is not a command of gjk3d robot, "
            f"{expected_names(urdf, ('info', 'check', 'path', 'safety', 'pairs'))}"
        )
    options.refuse()
    if options.acm is not None:
        return _run(pairs, options, urdf)
    if options.path is not None:
        return _run(path, options, urdf, options.path)
    if options.check is not None:
        return _run(check, options, urdf, options.check)
    return _run(info if options.random is None else check, options, urdf)


def _run(command: Callable[..., int | None], values: OldOptions, *words: Path | str) -> int | None:
    typed = [str(word) for word in words]
    options = {}
    for name, parameter in signature(command).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            options[name] = getattr(values, name)
            typed += _typed(name, options[name], parameter.default)
    if not values.output.quiet:
        note(shlex.join(["gjk3d", "robot", command.__name__, *typed]), "deprecated since 0.1.0, use instead")
    return command(*words, **options)


def _typed(name: str, value: Any, default: Any) -> list[str]:
    """Return an option and its value as arguments of a command line, or an empty list for the default value."""
    if is_dataclass(value):
        return [word for x in fields(default) for word in _typed(x.name, getattr(value, x.name), x.default)]
    option = f"--{name.replace('_', '-')}"
    if value is None or value == default:
        return []
    if value is True:
        return [option]
    return [word for item in (value if isinstance(value, tuple) else (value,)) for word in (option, str(item))]


_HELP = """Describe a robot, and check whether its configurations and paths are free.

The exit code is 0 if all is free, 1 for a collision or an unresolved path, 2 for bad input, and 130 after Ctrl-C, which
prints the results so far.
"""

robot = App(name="robot", help=_HELP, usage="gjk3d robot COMMAND URDF [OPTIONS]")
robot.command(info, usage="gjk3d robot info URDF [OPTIONS]", sort_key=1)
robot.command(check, usage="gjk3d robot check URDF [CONFIGURATIONS] [OPTIONS]", sort_key=2)
robot.command(path, usage="gjk3d robot path URDF WAYPOINTS [OPTIONS]", sort_key=3)
robot.command(safety, usage="gjk3d robot safety URDF WAYPOINTS... [OPTIONS]", sort_key=4)
robot.command(pairs, usage="gjk3d robot pairs URDF [OPTIONS]", sort_key=5)
robot.default(old)
