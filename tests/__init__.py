"""The tests: ``unit`` needs neither engine nor window; none of this is installed."""
