"""What people decided about findings, and what it means to later runs."""
