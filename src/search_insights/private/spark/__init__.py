"""The engine for a cluster; needs the extra `spark`."""
