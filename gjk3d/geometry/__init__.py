"""Numbers about points; nothing here knows a shape."""
