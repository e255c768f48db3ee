"""How accurate a release of a simulated log is, next to the exact counts that only a simulation may keep."""
