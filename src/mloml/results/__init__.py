"""Where finished cells are kept, and what is known of them: store, manifest, staleness."""
