"""Boxes along the axes -> pairs that may meet; knows no shapes."""
