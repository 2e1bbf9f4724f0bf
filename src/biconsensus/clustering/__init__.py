"""The first front: points, many clusterings of them, one consensus."""
