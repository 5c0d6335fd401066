"""Asks a Sluice service whether a request may go. Exits with 0 if it may, and with 1 if it is denied.

    SLUICE_URL=http://127.0.0.1:8080 python3 check.py acct_1
"""

import json
import os
import sys
import urllib.error
import urllib.request

URL = os.environ.get("SLUICE_URL", "http://127.0.0.1:8080")
TIMEOUT_S = 0.5


def check(attributes, cost=1):
    """The verdict of the service, or None if the service does not answer. A mistake in the request is an error."""
    body = json.dumps({"attributes": attributes, "cost": cost}).encode()
    try:
        with urllib.request.urlopen(f"{URL}/v1/check", body, TIMEOUT_S) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        if error.code < 500:
            raise ValueError(json.load(error)["detail"]) from error
        return None
    except OSError:
        return None


merchant = sys.argv[1] if len(sys.argv) > 1 else "acct_1"
verdict = check({"merchant": merchant, "method": "POST", "path": "/v1/charges", "ip": "192.0.2.7"})
if verdict is None:
    # A limit must not take the API down.
    print("allowed: the service did not answer")
elif verdict["allowed"]:
    print("allowed")
else:
    # retryAfterMs is None if waiting does not help, because the cost is larger than the limit.
    print(f"denied by {', '.join(verdict['deniedBy'])}: try again in {verdict['retryAfterMs']} ms")
    sys.exit(1)
