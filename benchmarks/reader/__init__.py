"""The learned reader: how it is trained, and how well it reads."""
