"""What one credential may use in a day, and how often somebody may fail to log in."""
