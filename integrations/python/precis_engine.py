"""precis for agents that call their model themselves: a request in, its view out.

    precis = Engine()                                     # precis serve, or precis gateway
    view = precis.view(request, conversation="ticket-4711")
    answer = client.messages.create(**view)               # anthropic
    answer = client.chat.completions.create(**view)       # openai
    answer = client.responses.create(**view)              # openai

Only the standard library is needed. When precis cannot be reached a request is
sent as it is; Engine.error says why.
"""

import json
import os
import urllib.error
import urllib.request


class PrecisError(Exception):
    """What precis refused: code is one of its error codes, hint may be empty."""

    def __init__(self, code, message, hint=""):
        super().__init__(message)
        self.code, self.hint = code, hint


class Engine:
    """The engine at a URL; url, key and timeout (seconds) default to PRECIS_URL, PRECIS_KEY and 30."""

    def __init__(self, url=None, key=None, timeout=30):
        self.url = (url or os.environ.get("PRECIS_URL") or "http://127.0.0.1:8377").rstrip("/")
        self.key = key or os.environ.get("PRECIS_KEY")
        self.timeout = timeout
        self.error = None  # why the newest view is the request itself; None: it is not

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

    def view(self, request, conversation=None, **options):
        """Returns the request with the messages to send in the place of its own.

        options are the fields of assemble: window, target, now, focus, summarizer …
        """
        try:
            body = {**request, **options}
            if conversation:
                body["conversation"] = conversation
            v = self.post("assemble", body)
        except (PrecisError, OSError, ValueError, TypeError) as e:
            self.error = e
            return request
        self.error = None
        out = {**request, v["list"]: v["messages"], **v.get("set", {})}
        if v.get("beta"):
            headers = dict(request.get("extra_headers") or {})
            headers["anthropic-beta"] = ",".join(filter(None, [headers.get("anthropic-beta"), v["beta"]]))
            out["extra_headers"] = headers
        return out

    def expand(self, handle, conversation, offset=0):
        """Returns the text of a handle, and the offset to read on at, 0 at its end."""
        r = self.post("expand", {"handle": handle, "conversation": conversation, "offset": offset})
        return r["text"], r.get("next_offset", 0)
