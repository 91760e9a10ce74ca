"""Estimators in the conventions of scikit-learn."""
