"""The colours of pictures and pages: A, B and other bodies, and markers."""

#: Orange and bluish green of Okabe and Ito, whose colours are distinct for all kinds of colour vision.
COLORS = ("#E69F00", "#009E73")
#: Colours of bodies in turn. Blue and vermilion are reserved for markers.
PALETTE = (*COLORS, "#56B4E9", "#CC79A7", "#F0E442", "#8C8C8C")
NORMAL, SEPARATION, INK, GREY = "#0072B2", "#D55E00", "#202124", "#A8B2BD"
#: Colours of the x, y and z axes.
AXES = (SEPARATION, COLORS[1], NORMAL)
