"""What developers run and users never need."""
