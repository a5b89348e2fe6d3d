"""For people at a shell."""
