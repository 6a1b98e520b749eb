"""``gjk3d robot``: a file a command, and what they share: options, the robot in its cell, printing."""
