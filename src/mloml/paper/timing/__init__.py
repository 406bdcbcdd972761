"""What cells, updates and propagation cost."""
