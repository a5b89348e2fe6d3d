"""Random runs of whole groups: simulated clients, a network that loses things, a broker that dies."""
