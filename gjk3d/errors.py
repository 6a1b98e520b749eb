"""Errors and warnings of gjk3d.

Each error derives from `Gjk3dError` and from the builtin class that fits it, such as ValueError.
"""


class Gjk3dError(Exception):
    """The base class of all errors that gjk3d defines."""


class ShapeError(Gjk3dError, ValueError):
    """A shape or another argument has an invalid value."""


class UnboundedShapeError(ShapeError, AttributeError):
    """An unbounded shape lacks this property, which only bounded shapes have. `hasattr` returns False for it."""


class PoseError(Gjk3dError, ValueError):
    """A pose is not a rigid (4, 4) transform."""


class SceneError(Gjk3dError, ValueError):
    """The scene does not contain the named object, contains it already, or cannot store it."""


class RobotError(Gjk3dError, ValueError):
    """The robot does not contain the named link or joint, or a configuration does not fit the robot."""


class ParseError(Gjk3dError, ValueError):
    """The file exists, but its content violates its format."""


class FileError(Gjk3dError, FileNotFoundError):
    """The path does not exist, or is not a file."""


class UnsupportedPair(Gjk3dError, TypeError):
    """The query is not defined or not implemented for this pair; the message names an alternative."""


class RenderingUnavailableError(Gjk3dError, RuntimeError):
    """The OpenGL library is missing; the message names what to install."""


class DeviceUnavailableError(Gjk3dError, RuntimeError):
    """The GPU or its compiler is missing; the message names what to install."""


class Gjk3dWarning(UserWarning):
    """The base class of all warnings of gjk3d, so that one filter matches them all."""


class ConvexityWarning(Gjk3dWarning):
    """A non-convex model was replaced by its convex hull."""


class RobotWarning(Gjk3dWarning):
    """A part of a robot is not checked for collisions; the message names the part and how to include it."""
