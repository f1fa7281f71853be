"""The four live charts: dumb views of ``engine_bridge.metrics`` views."""
