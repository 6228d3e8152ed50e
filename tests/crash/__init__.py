"""Kill runs at every place and see that nothing that was finished is lost."""
