"""``gjk3d robot``: each command has its file; the old flags are here, and print the command that replaces them.

The commands share `cell` (options, printing, the robot and its surroundings) and `configurations`.
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


@Parameter(name="*", show=False)
@dataclass(frozen=True)
class OldOptions:
    """All options of the old form; help does not show them."""

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
        """Refuse what does not go together."""
        modes_given = {"--check": self.check, "--random": self.random, "--path": self.path, "--acm": self.acm}
        modes = [name for name, value in modes_given.items() if value is not None]
        if len(modes) > 1:
            raise UsageError(f"{' and '.join(modes)}: one of them at a time")
        mode = modes[0] if modes else ""
        if self.look.certify and mode != "--path":
            raise UsageError("--certify proves a path: name one with --path")
        if self.animation is not None and mode != "--path":
            raise UsageError("--animation shows a path: name one with --path")
        if self.clearance and mode not in ("--check", "--random"):
            raise UsageError(
                "--clearance tells how far configurations are from touching: --check or --random names them"
            )
        if self.output.csv and mode in ("", "--acm"):
            raise UsageError("--csv prints configurations or a path: --check, --random or --path names them")
        if self.picture is not None and mode == "--acm":
            raise UsageError("--picture shows configurations or a path, and --acm asks about neither")
        at_least(samples=self.samples, top=self.top, seed=self.seed)


_NOTHING = OldOptions()


def old(
    urdf: Annotated[Path, Parameter(show=False)],
    /,
    *more: Annotated[str, Parameter(show=False)],
    options: OldOptions = _NOTHING,
) -> int:
    """Run the command that replaces the old options, and print it; options that it does not have are ignored."""
    if more:
        raise UsageError(f"{str(urdf)!r} is no command of gjk3d robot; info, check, path, safety and pairs are")
    options.refuse()
    if options.acm is not None:
        return _run(pairs, options, urdf)
    if options.path is not None:
        return _run(path, options, urdf, options.path)
    if options.check is not None:
        return _run(check, options, urdf, options.check)
    return _run(info if options.random is None else check, options, urdf)


def _run(command: Callable[..., int], values: OldOptions, *words: Path | str) -> int:
    typed = [str(word) for word in words]
    options = {}
    for name, parameter in signature(command).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            options[name] = getattr(values, name)
            typed += _typed(name, options[name], parameter.default)
    if not values.output.quiet:
        note(shlex.join(["gjk3d", "robot", command.__name__, *typed]), "now written")
    return command(*words, **options)


def _typed(name: str, value: Any, default: Any) -> list[str]:
    """Return an option as it is typed; nothing where it is not needed."""
    if is_dataclass(value):
        return [word for x in fields(default) for word in _typed(x.name, getattr(value, x.name), x.default)]
    option = f"--{name.replace('_', '-')}"
    if value is None or value == default:
        return []
    if value is True:
        return [option]
    return [word for item in (value if isinstance(value, tuple) else (value,)) for word in (option, str(item))]


_HELP = """Tell what a robot is, and whether its configurations and paths are free.

Exits with 0 if all is free, with 1 if something collides or stays unresolved, with 2 if the input is bad, with 130
after Ctrl-C; then what was found so far is still printed.
"""

robot = App(name="robot", help=_HELP, usage="gjk3d robot COMMAND URDF [OPTIONS]")
robot.command(info, usage="gjk3d robot info URDF [OPTIONS]", sort_key=1)
robot.command(check, usage="gjk3d robot check URDF [CONFIGURATIONS] [OPTIONS]", sort_key=2)
robot.command(path, usage="gjk3d robot path URDF WAYPOINTS [OPTIONS]", sort_key=3)
robot.command(safety, usage="gjk3d robot safety URDF WAYPOINTS... [OPTIONS]", sort_key=4)
robot.command(pairs, usage="gjk3d robot pairs URDF [OPTIONS]", sort_key=5)
robot.default(old)
