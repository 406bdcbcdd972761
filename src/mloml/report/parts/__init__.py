"""Tables and sentences that artefacts are made of."""
