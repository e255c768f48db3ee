"""The only state: noisy counts, ledger, journal, backups. Nothing in it is private."""
