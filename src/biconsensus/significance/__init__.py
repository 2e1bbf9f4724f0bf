"""More than chance? One question for every kind of evidence."""
