"""Groups of real clients whose members come, leave and die, for as long as one likes."""
