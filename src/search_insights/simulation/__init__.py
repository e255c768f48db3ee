"""A population that never was, whose searches are known in truth. The one place with a seed."""
