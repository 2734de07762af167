"""How servers are asked over HTTP: one file a protocol."""

from fairrec.scoring.wire import oip, plain_json, tfserving
from fairrec.scoring.wire.protocol import PROTOCOLS, Seen, Wire

__all__ = ["PROTOCOLS", "Seen", "Wire", "oip", "plain_json", "tfserving"]
