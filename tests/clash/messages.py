"""Notes, verdicts and sentences of clash reports and pages that tests compare literally, each defined once.

A pair of braces is a placeholder for a value from the test.
"""

# repr of results
CLASH = "<Clash {}: {}, {!r} and {!r}>"
ASSEMBLY = "<Assembly: {} parts, in {}"
REPORT = "<Report: {} parts, {} pairs tested, {}>"
REPORT_OF_A_PAIR = "<Report: {} parts, 1 pair tested, no clashes>"

# notes of findings
INSIDE = "{} is inside {}"
BODY_INSIDE = "{} has a body that is inside {}"
OTHER_TRIANGLES = "equal solids with different triangles"
APPROVED = "approved by ann"
APPROVED_AT_ANY_DEPTH = "approved by ann at any depth"
DEEPER = "deeper now"
NEARER = "nearer now"
OTHER_TIMES = "approved by ann at other times of the motion"
THERE_AGAIN = "marked as resolved by ann, but reported again"
NOT_CHECKED_NOW = "not checked in this run"

# times of a clash in a motion
DEEPEST = "deepest at {}"
IN_CLASH = "clashing within "
NEAR_THROUGHOUT = "equally near throughout, {} to {}"
CLASH_THROUGHOUT = "clashing throughout, equally deep"
NEAREST = "nearest at {}, "

# tables and topics
TITLE = "{}: {} / {}"
COLUMNS_OF_LENGTHS = "penetration mm | depth mm | gap mm | volume mm³"
DEPTH_AT_MOST = "boolean, range"

# pages
NO_ROW = "No finding matches the filter."
NO_FINDING = "There are no findings."
NO_CLASH = "No clash found in {}"
BOXES = "{} of {} parts are drawn as boxes"
BOX_UNTIL_CHOSEN = "1 part is drawn as a box until it is selected"
BOXES_UNTIL_CHOSEN = "1 parts are drawn as boxes until"
WORST = "the worst {} of {} findings"
WORST_IN_TABLE = "The table has the worst {} of {} findings."
NO_TRIANGLES = "does not contain their triangles"
NO_UNIT = "the files state no unit"
NOTHING_TESTED = "Nothing was tested"
LENGTHS_IN = "lengths in {}"
TOLERANCE_UP_TO = "tolerance ≤ {}"
TOLERANCE_FROM = "<tr><th>tolerance from</th><td>a millionth of"
BY_INTERSECTION = "Decided by the boolean intersection of the solids. The depth is an upper bound: moving B by it"
BY_TRIANGLES = "triangles of both parts, by triangle-triangle tests. The distance is exact."
BY_HULLS = "by EPA. The depth is that of the convex hulls, so it is an upper bound for the parts."
ESTIMATE = "an estimate without"
EXACT = "exact within the stated error"
NOT_MOVING = "this report has no motion tracks"
NOT_RELATIVE = "do not move relative to each other"
CHART = "clearance over time: gap up to {}, penetration up to {}; the parts clash"
GAP_FROM = "gap from {} to "
SEPARATION = "separating translation of B, {}"
GAP = "gap from A to B, {}"
B_NOT_DRAWN = "B is not drawn"
NOT_CHECKED = "{} parts were not checked"
POINT_ON_A = "point on A"
MEASURED = "measured: about {}"
CLICK_AN_END = "click one end"
LOOK_FIRST = "{} is in {} of {} findings: look at it first"
LARGEST_GROUPS = "near each other: the {} largest of {} groups (use the search for other names)"

# decisions
HIDDEN = "The filter hides rank {}"
UNDO = "undo: {}, rank {}"
NO_NAME = "no name given"
NO_NAME_IN_FILE = "1 entry lacks the name of an author"
REFUSED_IN_PAGE = r"other.triage.json (is not a .triage.json file of this page|has the time )"
AHEAD = ("a day ahead of this machine's clock", "Correct the time in the file, or this clock")
TRIAGE_COUNTS = "{} active, {} approved, {} comment\n"
SHOWN_AS_BOXES = "parts are shown as boxes"
