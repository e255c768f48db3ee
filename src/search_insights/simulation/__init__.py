"""A simulated population whose searches are known exactly. The only place in the program with a seed."""
