"""What people do on the pages, in a real browser."""
