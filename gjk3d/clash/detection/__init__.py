"""What computes the clashes: assemblies, close pairs, decisions of pairs, rules, and the run of a check."""
