"""Tables of points: many clusterings, and one consensus of them."""
