"""A stack of metric layers, compiled: where its numbers lie, its layers' steps, and whole scans."""
