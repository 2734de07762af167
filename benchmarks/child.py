"""Calls one function of this package and prints its answer: module, name, arguments as JSON."""

import importlib
import json
import sys

module, name, arguments = sys.argv[1:]
answer = getattr(importlib.import_module(module), name)(*json.loads(arguments))
print(json.dumps(answer))
