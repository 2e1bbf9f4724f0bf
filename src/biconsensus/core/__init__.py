"""Pool, preference matrix, consensus: the nouns."""
