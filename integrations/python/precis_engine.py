"""The engine of precis serve, or of precis gateway, with nothing but the standard library.

    precis = Engine()
    view = precis.post("assemble", {**request, "conversation": "ticket-4711"})
    text, offset = precis.expand("m12", "ticket-4711")

precis_httpx asks it for the view of each request of an httpx client, precis_litellm for those of a
LiteLLM proxy.
"""

import json
import os
import urllib.error
import urllib.request
import zlib


class PrecisError(Exception):
    """An error of precis: code is one of its error codes, hint may be empty."""

    def __init__(self, code, message, hint=""):
        super().__init__(message)
        self.code, self.hint = code, hint


# What post raises: precis refuses, is not there, or answers something else.
FAILURES = (PrecisError, OSError, ValueError, TypeError, KeyError)


class Engine:
    """The engine at a URL; url, key and timeout (seconds) default to PRECIS_URL, PRECIS_KEY and 30."""

    def __init__(self, url=None, key=None, timeout=30):
        self.url = (url or os.environ.get("PRECIS_URL") or "http://127.0.0.1:8377").rstrip("/")
        self.key = key or os.environ.get("PRECIS_KEY")
        self.timeout = timeout

    def post(self, verb, body):
        """Calls assemble, compact, gate, digest or expand and returns the answer."""
        headers = {"Content-Type": "application/json", "User-Agent": "precis-python"}
        if self.key:
            headers["X-Precis-Key"] = self.key
        data = json.dumps(body).encode()
        req = urllib.request.Request(self.url + "/precis/api/v1/" + verb, data, headers)
        try:
            with urllib.request.urlopen(req, timeout=self.timeout) as res:
                return json.load(res)
        except urllib.error.HTTPError as e:
            try:
                err = json.load(e)["error"]
                code, message = err["code"], err["message"]
            except (ValueError, KeyError, TypeError):
                code, message, err = "internal", "status %d" % e.code, {}
            raise PrecisError(code, message, err.get("hint", "")) from None

    def expand(self, handle, conversation, offset=0):
        """Returns the text of a handle, and the offset to continue at, 0 at its end."""
        r = self.post("expand", {"handle": handle, "conversation": conversation, "offset": offset})
        return r["text"], r.get("next_offset", 0)


def beginning(body):
    """Returns a name for the conversation that begins as a request does, by a hash of the system prompt and
    the first message. Equal names are no fault, since precis also compares the messages."""
    first = []
    for m in body.get("messages") or body.get("input"):
        first.append(m)
        if m.get("role") not in ("system", "developer"):
            break
    text = json.dumps([body.get("system"), body.get("instructions"), first])
    return "begins %08x" % zlib.crc32(text.encode())
