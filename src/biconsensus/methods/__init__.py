"""From one block to all groups: Algorithm 1 (greedy), and all groups together (joint)."""
