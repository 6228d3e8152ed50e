"""Results as rows of tables: JSON lines and CSV."""
