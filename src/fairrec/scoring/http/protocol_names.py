"""The names of the protocols, for help that must not load them."""

PROTOCOL_NAMES = ("oip", "json", "tfserving")
