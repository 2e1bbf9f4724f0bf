"""What a solver sees: distinct rows and columns with multiplicities, weights and masks."""
