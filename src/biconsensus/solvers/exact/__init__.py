"""The best block, proven by branch and cut."""
