"""The judge of durability: kills, power cuts, mangled files, failing calls. `docs/torture.md` tells how."""
