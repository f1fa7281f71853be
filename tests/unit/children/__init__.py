"""Processes that stand in for the ones under test."""
