"""Transports of httpx that send each request to a model as the view of its conversation, which fits the window:

    OpenAI(http_client=httpx.Client(transport=PrecisTransport()))
    AsyncAnthropic(http_client=httpx.AsyncClient(transport=AsyncPrecisTransport()))

The program keeps its whole list of messages. precis serve, or precis gateway, keeps the edits.
"""

import json
import re

import httpx
from anyio import to_thread

from precis_engine import FAILURES, Engine, beginning

__all__ = ["AsyncPrecisTransport", "PrecisTransport"]

PATH = re.compile(r"/(messages|chat/completions|responses)/?$")
DIALECTS = {"messages": "anthropic", "chat/completions": "chat", "responses": "responses"}
NAME = "X-Precis-Conversation"
REFUSALS = (400, 413, 422)  # statuses of a request that is too long


class _Turns:
    """What both transports share.

    transport sends the requests; None: httpx's own. conversation names the conversation of a request: a
    string, or a function of its body; None: by its beginning. The header X-Precis-Conversation of a request
    overrides it. on_error receives why a request was sent as it is. options are fields of assemble: window,
    target, focus, profile, summarizer.
    """

    def __init__(self, transport=None, engine=None, conversation=None, on_error=None, **options):
        self.transport, self.engine = transport or self.plain(), engine or Engine()
        self.conversation, self.on_error, self.options = conversation, on_error, options
        self.reported = None  # the newest answer's, for the next request

    def question(self, request):
        """Returns the body of assemble for a request; None if that is no turn of a conversation."""
        path = PATH.search(request.url.path)
        if not path or request.method != "POST" or not isinstance(request.stream, httpx.ByteStream):
            return None
        try:
            body = json.loads(b"".join(request.stream))
            if not isinstance(body.get("messages", body.get("input")), list):
                return None
        except (ValueError, AttributeError):
            return None
        named = self.conversation(body) if callable(self.conversation) else self.conversation
        own = {"dialect": DIALECTS[path[1]], "conversation": request.headers.get(NAME) or named or beginning(body), "server": request.url.netloc.decode()}
        return body, {**body, **self.options, **own, **({"reported": self.reported} if self.reported else {})}

    def view(self, question):
        """Returns the answer of assemble; None if it failed."""
        try:
            return self.engine.post("assemble", question)
        except FAILURES as e:
            if self.on_error:
                self.on_error(e)

    def refusal(self, question, view, response, raw):
        """Returns the body of assemble that reports the refusal of a view. Raw is what was read of it, and is read again."""
        response.stream = httpx.ByteStream(raw)
        text = httpx.Response(response.status_code, headers=response.headers, content=raw).text
        return {**question, "reported": {"tokens": 0, **view.get("counted", {}), "status": response.status_code, "error": text}}

    def sent(self, request, body, view):
        """Returns the request with a view in place of its own messages; without a view, only without our header."""
        headers = request.headers.copy()
        headers.pop(NAME, None)
        content = b"".join(request.stream)
        if view:
            self.reported = None
            if view["changed"]:
                content = json.dumps({**body, view["list"]: view["messages"], **view.get("set", {})}).encode()
            if view.get("beta"):
                headers["anthropic-beta"] = ",".join(filter(None, [headers.get("anthropic-beta"), view["beta"]]))
            headers["Accept-Encoding"] = "identity"  # the usage is read as it passes
            headers.pop("Content-Length", None)
        return httpx.Request(request.method, request.url, headers=headers, content=content, extensions=request.extensions)

    def listening(self, response, view):
        """Makes the usage that an answer states the next report."""
        if view and view.get("counted") and response.status_code == 200:
            response.stream = _Heard(response.stream, "event-stream" in response.headers.get("Content-Type", ""), self, view["counted"])
        return response


class _Heard(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that is passed on piece by piece, and searched for the usage that it states."""

    def __init__(self, stream, events, turns, counted):
        self.stream, self.events, self.turns, self.counted = stream, events, turns, counted
        self.rest, self.usage = b"", {}

    def hear(self, piece):
        self.rest += piece
        if self.events and b"\n" in piece:
            *lines, self.rest = self.rest.split(b"\n")
            for line in lines:
                self.read(line)

    def read(self, text):
        if b'"usage"' not in text:
            return
        try:
            event = json.loads(text[5:] if text.startswith(b"data:") else text)
            inside = event.get("message") or event.get("response") or {}
            self.usage.update(event.get("usage") or inside.get("usage") or {})
            cached = self.usage.get("cache_read_input_tokens") or 0, self.usage.get("cache_creation_input_tokens") or 0
            n = self.usage.get("prompt_tokens") or self.usage["input_tokens"] + sum(cached)  # Anthropic's input excludes what is cached
        except (ValueError, TypeError, KeyError, AttributeError):
            return  # another protocol: there is nothing to learn
        self.turns.reported = {**self.counted, "input": n}

    def __iter__(self):
        for piece in self.stream:
            self.hear(piece)
            yield piece
        self.read(self.rest)

    async def __aiter__(self):
        async for piece in self.stream:
            self.hear(piece)
            yield piece
        self.read(self.rest)

    def close(self):
        self.stream.close()

    async def aclose(self):
        await self.stream.aclose()


def smaller(less, view):
    return less and (less["acted"] or less["tokens_after"] < view["tokens_after"])


class PrecisTransport(_Turns, httpx.BaseTransport):
    """A transport for httpx.Client, see _Turns for its arguments."""

    plain = httpx.HTTPTransport

    def handle_request(self, request):
        body, question = self.question(request) or (None, None)
        view = question and self.view(question)
        response = self.transport.handle_request(self.sent(request, body, view) if question else request)
        if view and response.status_code in REFUSALS:
            raw = b"".join(response.stream)
            response.stream.close()
            less = self.view(self.refusal(question, view, response, raw))
            if smaller(less, view):
                view, response = less, self.transport.handle_request(self.sent(request, body, less))
        return self.listening(response, view)

    def close(self):
        self.transport.close()


class AsyncPrecisTransport(_Turns, httpx.AsyncBaseTransport):
    """The same for httpx.AsyncClient."""

    plain = httpx.AsyncHTTPTransport

    async def handle_async_request(self, request):
        body, question = self.question(request) or (None, None)
        view = question and await to_thread.run_sync(self.view, question)
        response = await self.transport.handle_async_request(self.sent(request, body, view) if question else request)
        if view and response.status_code in REFUSALS:
            raw = b"".join([piece async for piece in response.stream])
            await response.stream.aclose()
            less = await to_thread.run_sync(self.view, self.refusal(question, view, response, raw))
            if smaller(less, view):
                view, response = less, await self.transport.handle_async_request(self.sent(request, body, less))
        return self.listening(response, view)

    async def aclose(self):
        await self.transport.aclose()
