"""Obeys one JSON order per line, and answers each with a line."""

import base64
import json
import os
import sys

sys.path.insert(0, os.environ["CLIENT_DIR"])
from vidimus import Vidimus, VidimusError, WebhookError, verify_webhook  # noqa: E402

SECONDS = {"nan": float("nan"), "inf": float("inf"), "-1": -1.0}


def number(given):
    return SECONDS.get(given, given) if isinstance(given, str) else given


for line in sys.stdin:
    order = json.loads(line)
    try:
        if order["call"] == "verify_webhook":
            given = {name: number(order[name]) for name in ("header", "secret", "tolerance", "now") if name in order}
            result = verify_webhook(base64.b64decode(order["payload"]), **given)["verification"]["id"]
        else:
            limit = [number(order["timeout"])] if "timeout" in order else []
            client = Vidimus(order["base_url"], order["api_key"], *limit)
            result = getattr(client, order["call"])(*map(number, order["with"]))
    except VidimusError as error:
        result = {"failed": error.code, "status": error.status, "maybe_done": error.maybe_done}
    except WebhookError as error:
        result = {"failed": error.code}
    except (TypeError, ValueError) as error:
        result = {"failed": "wrong_call"}
    print(json.dumps(result), flush=True)
