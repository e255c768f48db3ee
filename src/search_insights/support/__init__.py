"""What knows nothing of a release and serves every stage: files, folders, SQL, arrays, charts."""
