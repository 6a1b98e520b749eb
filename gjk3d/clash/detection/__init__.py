"""Clash detection: assemblies, close pairs, decisions of pairs, rules, and the run of a check."""
