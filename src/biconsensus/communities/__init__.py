"""Networks: many runs of community detection, and one consensus of them."""
