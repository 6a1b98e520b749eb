"""The command line: one command a file, results on stdout, everything else on stderr.

app.py runs a command and maps how it went to an exit code, arguments.py checks what was typed, terminal.py prints.
Nothing is computed here. Each command calls the package as a user's script would.
"""
