"""What gjk3d raises and warns: one root, and beside it the builtin a caller would expect."""


class Gjk3dError(Exception):
    """The root of every error that gjk3d raises on purpose."""


class ShapeError(Gjk3dError, ValueError):
    """A shape cannot be built from these numbers."""


class UnboundedShapeError(ShapeError):
    """An unbounded shape was asked for something only bounded ones have."""


class PoseError(Gjk3dError, ValueError):
    """A pose is no rigid (4, 4) transform."""


class SceneError(Gjk3dError, ValueError):
    """A scene has no such object, has it already, or cannot take it."""


class RobotError(Gjk3dError, ValueError):
    """A robot has no such link or joint, or a configuration is none of its own."""


class ParseError(Gjk3dError, ValueError):
    """A file exists, and what it says makes no sense."""


class FileError(Gjk3dError, FileNotFoundError):
    """A file is not there, or is no file."""


class UnsupportedPair(Gjk3dError, TypeError):
    """The query has no meaning, or no algorithm, for these two; the message says what would work."""


class RenderingUnavailableError(Gjk3dError, RuntimeError):
    """No OpenGL library is there to draw with; the message says what to install."""


class Gjk3dWarning(UserWarning):
    """The root of every warning of gjk3d, so that one filter reaches them all."""


class ConvexityWarning(Gjk3dWarning):
    """A non-convex model was replaced by its convex hull."""
