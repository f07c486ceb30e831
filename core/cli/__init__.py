"""The command line: parse, make parts, call, print."""
