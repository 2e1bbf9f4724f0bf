"""What a user holds in the end: the consensus, its storage, its predictions."""
