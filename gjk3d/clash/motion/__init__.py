"""Moving assemblies: tracks, joints and loops, and the clashes of pairs of parts over time."""
