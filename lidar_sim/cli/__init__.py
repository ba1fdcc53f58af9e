"""The command line: thin commands, one file each, and one place where errors become exit codes."""
