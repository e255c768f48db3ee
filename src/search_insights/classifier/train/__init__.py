"""Train the classifier; needs the extra `train`. In the program only the command `classify` imports it."""
