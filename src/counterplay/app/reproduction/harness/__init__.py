"""What experiments share: the store, the campaign, results and the report."""
