"""Training the classifier; needs the extra `train`. Nothing else of the program imports it."""
