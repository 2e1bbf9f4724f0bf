"""The vote: blocks as fixed points of majority votes between rows and columns."""
