"""Tables, figures and the report, made from frames of finished cells."""
