"""The tests; each is named after the promise that it keeps."""
