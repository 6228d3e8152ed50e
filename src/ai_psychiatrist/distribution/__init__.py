"""How likely each score of an item is: sources, their pool, its calibration, sets and totals."""
