"""Decisions of people about findings, and their effect on later runs."""
