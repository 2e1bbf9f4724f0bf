"""What was said: the candidate groups of the elements, and where each of them came from."""
