"""The modules of bodies that a query loads by the first access."""

from . import compound as compound
from . import contact as contact
from . import distance as distance
from . import impact as impact
from . import mesh_points as mesh_points
from . import planes as planes
from . import rational as rational
from . import raycast as raycast
from . import solids as solids
