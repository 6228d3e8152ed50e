"""The page that people review an assessment on."""
