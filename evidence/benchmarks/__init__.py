"""Speed and accuracy, each as a ratio to a reference measured in the same run."""
