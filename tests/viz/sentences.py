"""Captions and sentences of pictures and pages that tests compare word for word; each one is written here once.

A name in braces or in groups of a pattern stands for a value that the test knows.
"""

# captions of answers
TOUCHING_POINTS = "{} contact points, touching"
NO_POINTS = "No contact points"
FIRST_CONTACT = "First contact at {} of the motion"
FREE_MOTION = "Free during the whole motion"
CLOSE_AT_START = "Too close from the start"
RAYS = "{} of {} rays hit"
KINK = "one of several gradients (a kink)"
STACK_OF_BOXES = "{} bounding volumes (axis-aligned box)"
BOX = "Axis-aligned box, volume {} cubic units"
NONE_COLLIDES = "Nothing collides among {} objects"
PAIR_COLLIDES = "1 pair collides among {} objects"
PAIRS_COLLIDE = "{} pairs collide among {} objects"
NO_PAIR = "No pair within the limit"
PAIR_APART = "{} – {}: apart by {}"
OVERLAPPING = "Overlapping by {}"
BETWEEN = "Overlapping by {} to {}"
PROVEN = "proven: distance {}"
PROVEN_DEPTH = "proven: depth {}"
APART = "apart by {}"
AT_LEAST = "≥ {}"
FINDING = "{} of {}: overlap by {}"
NO_CLASHES = "No clashes among {} parts"

# captions of robots
ROBOT = "{}: {} links, {} joints"
ROBOT_AT = "{}: {} links, {} joints, at {}"
CLOSEST = "Free: closest are {} and {}"
COLLISION = "Collision: {}, greatest depth {}"
PAIR = "{} with {}"
AND_A_PAIR = "{} and 1 pair more"
AND_PAIRS = "{} and {} pairs more"
TOO_CLOSE = "Too close: {}, least gap {}"
COLLISION_ON = "Collision on edge {} of {}, {}"
COLLISION_AT = "Collision at {}, {}"
FREE_SAMPLES = "Free: 1 edge, at every sample"
FREE_PROVEN = "Free: 1 edge, proven between samples too"
FREE_TIMES = "Free: from {} to {}, at every sample"
FREE_WAYPOINT = "Free: the only waypoint"
ON_EDGE = "edge {} of {}, from waypoint {} to {}"
AT_TIME = "at {}, of {} to {}"
AT_WAYPOINT = "at the only waypoint"
AT_SHARE = "at {} of the motion"

# legends
TRAIL = "path of the middle of B"
CONTACT_NORMAL = "first contact and normal from A to B"
RAY_HITS = ("rays that hit", "hit points and normals")
WAY_OUT = "separation of B"
SHORTEST_WAY_OUT = "shortest separation of B"

# pages
LOWER, UPPER, TO_PART = "Proven at least", "Proven at most", "To separate"
MOVE_OUT = "move B out until it is free"
HULLS = "Transparent: their convex hulls"
HULL_ALONE = "Only the hull of {} is drawn, because the model has {} triangles."
LEFT_OUT = "{} of the bodies are left out, because a page has at most {} triangles"
SAFETY_COLUMNS = {"margin, m", "least distance, m", "at, s", "too close since, s"}
WHAT_NEXT = "Which corners does GJK keep?"
HOW_MANY_FACES = "How many faces does {} see?"
NEGATIVE_BOUND = "A lower bound below 0 does not exclude an overlap"

# steps that are explained
FOLDED = "steps in one"
ROUNDING = "up to rounding"
NEAREST_IS = r"is (-?[\d.e-]+) from"
KEPT = r"region of (?:corner|edge|triangle|tetrahedron)((?: w\d+)+)"
AGAIN = r"origin is w\d+ again"
SAME_AGAIN = r"no farther than w\d+|w\d+ is no farther \(up to rounding\)"
REACHES = r"reaches (w\d+), ([\d.]+) beyond"
NEAREST_FACE = r"Face ((?:w\d+ ?){3})is the nearest to the origin, ([\d.]+) away"
REPLACED_FACES = r"replaces (the face|the (\d+) faces that see it) by (\d+) new"
LAST_FACE = r"reaches no farther than|farther, so the face is on the surface"
