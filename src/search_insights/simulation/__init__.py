"""A simulated population whose searches are known exactly. The same seed gives the same log; noise never has a seed."""
