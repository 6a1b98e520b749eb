"""The command line: one command a file, results on stdout, everything else on stderr."""
