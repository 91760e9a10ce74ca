"""What estimators are made of: plans of solving, rows in memory or elsewhere, and new rows."""
