"""Runs against the precis serve at PRECIS_URL and an API that asks for one file after another. The requests
are those that the SDKs openai and anthropic make; the SDKs themselves are not needed."""

import asyncio
import gzip
import http.server
import json
import threading
import unittest

import httpx

from precis_engine import Engine
from precis_httpx import AsyncPrecisTransport, PrecisTransport
from test_integrations import WINDOW

REQUESTS = 40
KINDS = {"chat/completions": False, "messages": False, "responses": False, "chat/completions?": True, "messages?": True, "responses?": True}  # streamed?


def said(who):
    return "Read the files one by one for %s. Never touch main.go, and keep to tabs." % who


def text(i):
    return "".join("value %d of file %d\n" % (k * 31 + i, i) for k in range(60))


def count(body):
    """What the API counts: more than precis does, until that has learned it."""
    return int(len(json.dumps(body, separators=(",", ":"))) / 2.2)


def says(kind, n, end, tokens):
    """The answer to the n-th request: a call, at last a text."""
    if kind == "messages":
        block = {"type": "text", "text": "All read."} if end else {"type": "tool_use", "id": "t%d" % n, "name": "read", "input": {"path": "f%d" % n}}
        usage = {"input_tokens": 10, "cache_read_input_tokens": tokens - 10, "cache_creation_input_tokens": 0, "output_tokens": 9}
        return {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [block], "stop_reason": "end_turn" if end else "tool_use", "usage": usage}
    arguments = json.dumps({"path": "f%d" % n})
    if kind == "responses":
        item = {"type": "function_call", "id": "f%d" % n, "call_id": "t%d" % n, "name": "read", "arguments": arguments}
        if end:
            item = {"type": "message", "id": "o", "role": "assistant", "content": [{"type": "output_text", "text": "All read.", "annotations": []}]}
        return {"id": "r", "object": "response", "status": "completed", "model": "m", "output": [item], "usage": {"input_tokens": tokens, "output_tokens": 9}}
    call = {"id": "t%d" % n, "type": "function", "function": {"name": "read", "arguments": arguments}}
    message = {"role": "assistant", "content": "All read."} if end else {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"id": "c", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": tokens, "completion_tokens": 9}}


def events(kind, answer):
    """An answer as a stream: what matters to a transport is where the usage stands."""
    if kind == "messages":
        start = {"type": "message_start", "message": {**answer, "content": []}}
        return [start, {"type": "content_block_start", "index": 0, "content_block": answer["content"][0]}, {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 9}}]
    if kind == "responses":
        return [{"type": "response.created", "response": {**answer, "output": [], "usage": None}}, {"type": "response.completed", "response": answer}]
    return [{**answer, "usage": None}, {**answer, "choices": []}]


class API(http.server.BaseHTTPRequestHandler):
    protocol_version, disable_nagle_algorithm = "HTTP/1.1", True
    seen, refused = {}, {}  # the bodies of each client that were answered, and how many were too long

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        _, client, _, kind = self.path.split("/", 3)
        bodies = self.seen.setdefault(client, [])
        body = json.loads(raw)
        assert "X-Precis-Conversation" not in self.headers
        if count(body) > WINDOW:
            self.refused[client] = self.refused.get(client, 0) + 1
            error = json.dumps({"error": {"message": "This model's maximum context length is %d tokens. However, your messages resulted in %d tokens." % (WINDOW, count(body))}}).encode()
            self.send_response(400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(error)))
            self.end_headers()
            self.wfile.write(error)
            return
        bodies.append(body)
        answer = says(kind, len(bodies), len(bodies) % REQUESTS == 0, count(body))
        pieces = [json.dumps(answer, indent=1)]
        if body.get("stream"):
            pieces = ["data: %s\n\n" % json.dumps(e) for e in events(kind, answer)] + ["data: [DONE]\n\n"]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if body.get("stream") else "application/json")
        self.send_header("Content-Length", str(sum(len(p) for p in pieces)))
        self.end_headers()
        for p in pieces:
            for half in (p[:20], p[20:]):
                self.wfile.write(half.encode())

    def log_message(self, *_):
        pass


class Asked(Engine):
    """The engine, and what it was asked and has answered."""

    def __init__(self, **options):
        super().__init__(**options)
        self.asked = []

    def post(self, verb, body):
        v = super().post(verb, body)
        self.asked.append((body.get("reported"), v))
        return v


def grown(kind, request, answer):
    """The list of the next request; None at the end."""
    if kind == "messages":
        (block,) = answer["content"]
        result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": block.get("id"), "content": text(int(block.get("input", {}).get("path", "f0")[1:]))}]}
        return None if block["type"] == "text" else request + [{"role": "assistant", "content": [block]}, result]
    if kind == "responses":
        (item,) = answer["output"]
        return None if item["type"] == "message" else request + [item, {"type": "function_call_output", "call_id": item["call_id"], "output": text(int(json.loads(item["arguments"])["path"][1:]))}]
    message = answer["choices"][0]["message"]
    if not message.get("tool_calls"):
        return None
    (call,) = message["tool_calls"]
    return request + [message, {"role": "tool", "tool_call_id": call["id"], "content": text(int(json.loads(call["function"]["arguments"])["path"][1:]))}]


def asking(kind, stream, messages, model="m"):
    field = "input" if kind == "responses" else "messages"
    more = {"messages": {"max_tokens": 100, "system": "You read files."}, "responses": {"instructions": "You read files.", "store": False}}.get(kind, {})
    return {"model": model, field: messages, **more, **({"stream": True} if stream else {})}


def read(kind, stream, raw):
    """The answer of a body."""
    if not stream:
        return json.loads(raw)
    all = [json.loads(line[6:]) for line in raw.decode().split("\n") if line.startswith("data: {")]
    if kind == "messages":
        return {"content": [all[1]["content_block"]]}
    return all[1]["response"] if kind == "responses" else all[0]


class Transports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), API)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.base = "http://127.0.0.1:%d/" % cls.server.server_port

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()

    def check(self, client, engine):
        bodies = API.seen[client]
        reports = [r and r["input"] for r, _ in engine.asked if not (r and "status" in r)]
        asked = [a for a, (r, _) in zip(engine.asked, engine.asked[1:] + [(None, None)]) if not (r and "status" in r)]  # not refused
        self.assertEqual((len(bodies), len(asked)), (REQUESTS, REQUESTS))
        was = []
        for n, (body, (_, view)) in enumerate(zip(bodies, asked)):
            self.assertLessEqual(count(body), WINDOW, "request %d" % n)
            self.assertIn(said(client), json.dumps(body))
            sent = body.get("messages", body.get("input"))
            if n:
                self.assertIn(json.dumps(text(n))[1:-1], json.dumps(sent), "request %d has the newest file" % n)
            if not view["acted"]:
                self.assertEqual(sent[: len(was)], was, "request %d begins as the one before" % n)
            was = sent
        self.assertTrue(3 <= sum(v["acted"] for _, v in asked) <= 16)
        self.assertEqual(reports, [None] + [count(b) for b in bodies[:-1]], "each count is reported with the next request")

    def run_sync(self, kind, stream, client, model="m", **options):
        """Reads every file, and returns the engine."""
        engine = Asked()
        with httpx.Client(transport=PrecisTransport(engine=engine, on_error=self.fail, **options)) as http:
            messages = [{"role": "user", "content": said(client)}]
            while messages:
                with http.stream("POST", self.base + client + "/v1/" + kind, json=asking(kind, stream, messages, model), headers={"X-Precis-Conversation": client}) as res:
                    messages = grown(kind, messages, read(kind, stream, b"".join(res.iter_bytes())))
        self.check(client, engine)
        return engine

    async def run_async(self, kind, stream, client, model="m", **options):
        engine = Asked()
        async with httpx.AsyncClient(transport=AsyncPrecisTransport(engine=engine, on_error=self.fail, **options)) as http:
            messages = [{"role": "user", "content": said(client)}]
            while messages:
                async with http.stream("POST", self.base + client + "/v1/" + kind, json=asking(kind, stream, messages, model)) as res:
                    messages = grown(kind, messages, read(kind, stream, await res.aread()))
        self.check(client, engine)

    def test_each_api(self):
        for name, stream in KINDS.items():
            client = "sync-" + name.replace("/", "-").replace("?", "-stream")
            with self.subTest(client):
                engine = self.run_sync(name.rstrip("?"), stream, client, window=WINDOW)
                self.assertTrue(engine.expand("m2", client)[0], "the header names the conversation")

    def test_each_api_asynchronously(self):
        for name, stream in KINDS.items():
            client = "async-" + name.replace("/", "-").replace("?", "-stream")
            with self.subTest(client):
                asyncio.run(self.run_async(name.rstrip("?"), stream, client, window=WINDOW))

    def test_a_window_that_nobody_states(self):
        """The first refusal teaches it, and no client sees one."""
        for n, (name, stream) in enumerate(KINDS.items()):
            kind, model = name.rstrip("?"), "unstated-%d" % n
            clients = [model + "-" + who for who in ("sync", "async", "long")]
            with self.subTest(name):
                if n % 2:
                    self.run_sync(kind, stream, clients[0], model)
                    asyncio.run(self.run_async(kind, stream, clients[1], model))
                else:
                    asyncio.run(self.run_async(kind, stream, clients[0], model))
                    self.run_sync(kind, stream, clients[1], model)
                messages, engine = [{"role": "user", "content": said(clients[2])}], Asked()
                for i in range(REQUESTS):
                    messages = grown(kind, messages, says(kind, i, False, 0))
                with httpx.Client(transport=PrecisTransport(engine=engine, on_error=self.fail)) as http:
                    http.post(self.base + clients[2] + "/v1/" + kind, json=asking(kind, stream, messages, model)).raise_for_status()
                self.assertEqual([API.refused.get(c) for c in clients], [1, None, None])
                ((_, view),) = engine.asked
                self.assertTrue(view["acted"])
                self.assertEqual(view["window"]["tokens"], WINDOW)

    def test_what_is_refused_otherwise_or_again(self):
        """It is passed on as it is, compressed or not."""
        long = [{"role": "user", "content": said("again")}, {"role": "assistant", "content": text(1)}] + [{"role": "user", "content": text(n)} for n in (2, 3, 4)]
        for error, tries in ((b"maximum context length is 3000 tokens", 2), (b"no such tool", 1)):
            sent, packed = [], gzip.compress(error)

            def answer(request):
                sent.append(request.content)
                return httpx.Response(422, headers={"Content-Encoding": "gzip"}, stream=httpx.ByteStream(packed))

            async def post():
                async with httpx.AsyncClient(transport=AsyncPrecisTransport(httpx.MockTransport(answer), engine, on_error=self.fail)) as http:
                    return await http.post("http://again/v1/messages", json={"model": "again-async", "messages": long})

            for ask in (lambda: httpx.Client(transport=PrecisTransport(httpx.MockTransport(answer), engine, on_error=self.fail)).post("http://again/v1/messages", json={"model": "again", "messages": long}), lambda: asyncio.run(post())):
                engine = Asked()
                sent.clear()
                res = ask()
                self.assertEqual((res.status_code, res.content, len(sent), len(engine.asked)), (422, error, tries, 2))
                self.assertTrue(tries == 1 or len(sent[1]) < len(sent[0]))

    def test_a_beta_is_added(self):
        sent = []
        plain = httpx.MockTransport(lambda r: sent.append(r) or httpx.Response(200))
        engine = Engine()
        engine.post = lambda verb, body: {"list": "messages", "changed": True, "messages": [], "set": {"thinking": None}, "beta": "b-2"}
        httpx.Client(transport=PrecisTransport(plain, engine)).post("http://api/v1/messages", json={"messages": [{"role": "user", "content": "hi"}]}, headers={"anthropic-beta": "b-1"})
        self.assertEqual(sent[0].headers["anthropic-beta"], "b-1,b-2")
        self.assertEqual(json.loads(sent[0].content), {"messages": [], "thinking": None})

    def test_what_fits_keeps_its_bytes(self):
        sent, raw = [], '{ "model":"m", "messages": [{"role":"user","content":"h\\u00e9"} ]}'.encode()
        plain = httpx.MockTransport(lambda r: sent.append(r) or httpx.Response(200))
        httpx.Client(transport=PrecisTransport(plain, on_error=self.fail)).post("http://api/v1/messages", content=raw)
        self.assertEqual(sent[0].content, raw)

    def test_what_is_no_turn_and_what_fails(self):
        sent, errors = [], []
        plain = httpx.MockTransport(lambda r: sent.append(r) or httpx.Response(200))
        for engine, options in ((Engine(url="http://127.0.0.1:1"), {}), (Engine(), {"profile": "nobody's"})):
            http = httpx.Client(transport=PrecisTransport(plain, engine, on_error=errors.append, **options))
            http.post("http://api/v1/messages", content=b'{ "messages": [{"role":"user","content":"hi"}]}', headers={"X-Precis-Conversation": "n"})
            self.assertEqual(sent[-1].content, b'{ "messages": [{"role":"user","content":"hi"}]}')
            self.assertNotIn("X-Precis-Conversation", sent[-1].headers)
        self.assertEqual(len(errors), 2)
        for request in ({"json": {"input": "a text"}}, {"content": b"no JSON"}, {"content": b"[1]"}, {"content": iter([b"{}"])}):
            http.post("http://api/v1/responses", **request)
        http.get("http://api/v1/messages")
        self.assertEqual((len(errors), len(sent)), (2, 7))


if __name__ == "__main__":
    unittest.main()
