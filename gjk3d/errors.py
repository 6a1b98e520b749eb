"""What gjk3d raises and warns: one root, and beside it the builtin a caller would expect."""


class Gjk3dError(Exception):
    """The root of every error that gjk3d raises on purpose."""


class ShapeError(Gjk3dError, ValueError):
    """A shape cannot be built from these numbers."""


class UnboundedShapeError(ShapeError):
    """An unbounded shape was asked for something only bounded ones have."""


class PoseError(Gjk3dError, ValueError):
    """A pose is not a rigid (4, 4) transform."""


class SceneError(Gjk3dError, ValueError):
    """A scene has no such object, has it already, or cannot take it."""


class RobotError(Gjk3dError, ValueError):
    """A robot lacks the link or joint named, or a configuration does not fit it."""


class ParseError(Gjk3dError, ValueError):
    """A file exists, but its content is not what the format says."""


class FileError(Gjk3dError, FileNotFoundError):
    """A path does not exist, or is not a file."""


class UnsupportedPair(Gjk3dError, TypeError):
    """The query has no meaning, or no algorithm, for these two; the message says what would work."""


class RenderingUnavailableError(Gjk3dError, RuntimeError):
    """No OpenGL library is there to draw with; the message says what to install."""


class DeviceUnavailableError(Gjk3dError, RuntimeError):
    """No graphics card is there to ask, or nothing that compiles for it; the message says what to install."""


class Gjk3dWarning(UserWarning):
    """The root of every warning of gjk3d, so that one filter reaches them all."""


class ConvexityWarning(Gjk3dWarning):
    """A non-convex model was replaced by its convex hull."""


class RobotWarning(Gjk3dWarning):
    """A part of a robot is not checked; the message names it, and says how it would be."""
