"""How accurate a release of a simulated log is, compared with the exact counts that only a simulation may keep."""
