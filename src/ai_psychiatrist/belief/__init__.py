"""Item-level belief: its sources, how they are pooled and recalibrated, sets and totals."""
