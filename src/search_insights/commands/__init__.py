"""The commands, a module each: its options, and the few lines that call the program and show the result.

Modules here import nothing heavy at the top, so that `--help` stays quick.
"""
