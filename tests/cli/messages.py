"""Expected texts of the command line that tests compare word for word. Each text is defined only here.

A pair of braces is a placeholder for a value that the test inserts.
"""

# gjk3d check and explain
APART = "APART by {}"
OVERLAPPING = "OVERLAPPING by {}"
JUST_TOUCH = "they just touch"
MOVE_B = "move B by {}"
WIDE_BOUNDS = ("the bounds are wider than usual", "a shorter move may suffice")
TRIANGLES, HULLS = "Triangles of the models", "Convex hulls of the models"
COMPARED = "{} are compared."
FIRST_STEP = "1. Start."
APART_BY = r"apart by ([\d.]+):?"
ANSWER_APART = "Result: apart by {}"
ANSWER_OVERLAPPING = "Result: overlapping by {}"
BOUNDS_OF_THE_DISTANCE = "Bounds of the distance in {}"

# gjk3d clash and diff
CLASH_COUNTS = "{} parts, {} pairs tested: {} hard, {} contained, {} duplicate, {} touch"
CLASH_LIMITS = "clearance {}, tolerance ≤ {}"
CLASH_COLUMNS = "# kind A B penetration mm depth mm volume mm³ decided by"
MORE_ROWS = "... {} more, --top {} shows them"
WHEN, BEFORE_NOW = "decided by when", "when before when now"
DEEPEST = "deepest at {}, clashing within {} to {}"
IN_CLASH = "clashing within {} to {}"
READ_IN = "read in"
NO_UNIT = "note: the models do not state a unit, so lengths are the numbers of the files. Set the unit with --unit.\n"
CLASH_INTERRUPTED = "gjk3d: interrupted: {} of {} pairs were tested\n"
DIFF_COUNTS = "{} new, {} of another kind, {} changed, {} same, {} resolved"
DISTANCE_BEFORE = "before {}"
STOPPED = "note: the check of {} was stopped before its end, so findings may be missing\n"
CONVERTED = "note: the lengths of {} are converted to {}\n"

# gjk3d doctor
USABLE = "gjk3d is usable\n"
BROKEN = "broken: {}\n"
COMPILATION_OFF = "compilation is off"
COMPILES_BY_ITSELF = "each process compiles by itself"
NOT_COMPILED = "not compiled yet"
THROUGH_PYTHON = "single calls go through Python"
ELSEWHERE = "being compiled by another process, {} done"

# gjk3d replay
SAME = "SAME to the last bit\n"
SAME_VERSIONS = "versions now  the same"
REPLAY_COUNTS = "{}: {} same, {} agrees, {} contradicts"
PROVEN_COUNTS = "{} of {} proven then, {} now"
PROVEN = "proven; witness points to "
PROVEN_EXACTLY = "proven; witness points to 0, normal to 0"

# gjk3d robot
ROBOT = "{}: {} links, {} joint coordinates, lengths in {}, angles in rad\n"
CHECK_COUNTS = "{} configurations: {} free, {} in collision"
LEAST_CLEARANCE = "least clearance: {}, {}, row {} of {}"
FREE_SAMPLES = "FREE at every sample"
FREE_PROVEN = "FREE, proven for the whole path"
UNRESOLVED = "UNRESOLVED on edge {} of {}, from row {} to row {} of {}: {} are too close to decide"
FREE_UP_TO = "free up to {} of this edge\n"
PATH_INTERRUPTED = "interrupted: {} of {} edges are free, the others were not checked"
KEPT = "{} of {} motions proven to keep every margin"
USE_INSTEAD = "deprecated since 0.1.0, use instead: "

# tables and pages of models
NOT_READ = "{} more part could not be read"
SHORTENED = "(names shortened, without {}; a wider terminal or a pipe shows all)"
