"""Fault machinery: killing, damaging, mutating and overloading the program."""
