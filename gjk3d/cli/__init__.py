"""The command line, with a module for each command. Results are printed on stdout, everything else on stderr.

`app` runs a command and returns its exit code, `arguments` checks the arguments, and `terminal` prints. The commands
do not compute results. They call the package as a script of a user does.
"""
