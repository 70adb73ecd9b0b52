"""Runs against the precis serve at PRECIS_URL."""

import asyncio
import copy
import importlib.util
import json
import os
import sys
import tempfile
import time
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from precis_engine import Engine, PrecisError
from precis_langchain import PrecisMiddleware

WINDOW = 8000
RULE = "Never touch main.go."


def text(i):
    return "".join("value %d of file %d\n" % (k * 31 + i, i) for k in range(120))


def chat(n, who="somebody"):
    out = [{"role": "user", "content": "Read the files for " + who + ". " + RULE}]
    for i in range(n):
        call = {"id": "t%d" % i, "type": "function", "function": {"name": "read", "arguments": json.dumps({"path": "f%d" % i})}}
        out += [{"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "tool_call_id": "t%d" % i, "content": text(i)}]
    return out


def anthropic(n, who="somebody"):
    out = [{"role": "user", "content": "Read the files for " + who + ". " + RULE}]
    for i in range(n):
        out += [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t%d" % i, "name": "read", "input": {"path": "f%d" % i}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t%d" % i, "content": text(i)}]},
        ]
    return out


def responses(n, who="somebody"):
    out = [{"role": "user", "content": "Read the files for " + who + ". " + RULE}]
    for i in range(n):
        out += [
            {"type": "function_call", "call_id": "t%d" % i, "name": "read", "arguments": json.dumps({"path": "f%d" % i})},
            {"type": "function_call_output", "call_id": "t%d" % i, "output": text(i)},
        ]
    return out


class Snippets(unittest.TestCase):
    def test_each_api(self):
        for name, field, make in (("chat", "messages", chat), ("anthropic", "messages", anthropic), ("responses", "input", responses)):
            engine = Engine()
            request = {"model": "m", field: make(20), "temperature": 0}
            view = engine.view(request, "python " + name, window=WINDOW)
            self.assertIsNone(engine.error)
            self.assertEqual(view["temperature"], 0)
            self.assertLess(len(json.dumps(view)), 4 * WINDOW)
            self.assertIn(RULE, json.dumps(view))
            self.assertEqual(view[field][-1], request[field][-1])
            self.assertEqual(request[field], make(20), "the request itself is not changed")
            whole, offset = "", 0
            while True:
                piece, offset = engine.expand("m2", "python " + name, offset)
                whole += piece
                if not offset:
                    break
            self.assertIn(text(0), whole)

    def test_the_beginning_stays(self):
        engine, before, acts = Engine(), None, 0
        for n in range(1, 40):
            v = engine.post("assemble", {"model": "m", "messages": chat(n, "growth"), "window": WINDOW, "conversation": "grows"})
            if v["acted"]:
                acts += 1
            elif before:
                self.assertEqual(v["messages"][: len(before)], before)
            before = v["messages"]
        self.assertTrue(2 <= acts <= 20, acts)

    def test_without_precis_the_request_goes_as_it_is(self):
        engine = Engine(url="http://127.0.0.1:1")
        request = {"model": "m", "messages": chat(2)}
        self.assertIs(engine.view(request), request)
        self.assertIsNotNone(engine.error)

    def test_errors_have_codes(self):
        with self.assertRaises(PrecisError) as e:
            Engine().post("expand", {"handle": "m0", "conversation": "nobody"})
        self.assertEqual(e.exception.code, "not_found")


class Message:
    """What the middleware needs of LangChain's messages."""

    def __init__(self, type, content, tool_calls=None, tool_call_id=None):
        self.type, self.content, self.tool_calls, self.tool_call_id = type, content, tool_calls or [], tool_call_id


class Request:
    def __init__(self, messages):
        self.messages, self.system_message, self.model = messages, Message("system", "You read files."), object()

    def override(self, **fields):
        out = copy.copy(self)
        out.__dict__.update(fields)
        return out


class LangChain(unittest.TestCase):
    """By what the classes of LangChain have: the package itself is not needed."""

    def messages(self, n):
        out = [Message("human", "Read the files. " + RULE)]
        for i in range(n):
            out += [Message("ai", "", [{"id": "t%d" % i, "name": "read", "args": {"path": "f%d" % i}}]), Message("tool", text(i), tool_call_id="t%d" % i)]
        return out

    def test_the_model_sees_the_view(self):
        m = PrecisMiddleware(window=WINDOW, conversation=lambda r: "langchain test", make=lambda role, content: Message("human", content))
        sent = self.messages(20)
        for call in (lambda r: m.wrap_model_call(r, lambda q: q), lambda r: asyncio.run(m.awrap_model_call(r, self.answer))):
            request = Request(sent)
            got = call(request)
            self.assertIsNone(m.engine.error)
            self.assertEqual(len(request.messages), 41, "the state keeps every message")
            self.assertLess(sum(len(str(g.content)) for g in got.messages), 4 * WINDOW)
            self.assertIs(got.messages[-1], sent[-1])
            self.assertTrue(any(RULE in str(g.content) for g in got.messages))
            self.assertGreater(sum(any(g is s for s in sent) for g in got.messages), 3)
            calls = [c["id"] for g in got.messages for c in g.tool_calls]
            self.assertEqual(calls, [g.tool_call_id for g in got.messages if g.type == "tool"])

    async def answer(self, request):
        return request


def hermes():
    """The context engine as precis install hermes writes it."""
    path = os.path.join(HERE, "..", "..", "host", "plugins", "hermes.py")
    spec = importlib.util.spec_from_file_location("precis_hermes", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.PRECIS = "precis"
    return module


class Hermes(unittest.TestCase):
    """As Hermes calls an engine, by its source; not in Hermes itself. Here precis serve answers."""

    environment = {}

    def setUp(self):
        patch = mock.patch.dict(os.environ, self.environment)
        patch.start()
        self.addCleanup(patch.stop)

    def engine(self, session):
        collected = []
        hermes().register(type("Context", (), {"register_context_engine": lambda _, e: collected.append(e)})())
        e = copy.deepcopy(collected[0])  # each agent has a copy
        self.assertEqual(e.name, "precis")
        e.update_model("m", WINDOW)
        e.on_session_start(self.id() + session, platform="cli")
        return e

    def test_each_request_gets_its_view(self):
        e, system = self.engine("s1"), {"role": "system", "content": "You read files."}
        before = None
        for n in range(1, 30):
            history = [system] + chat(n, "hermes")
            count = e.compression_count
            sent = e.select_context(history, conversation_messages=history, budget_tokens=WINDOW) or history
            self.assertIsNone(e.error)
            if before and e.compression_count == count:
                self.assertEqual(sent[: len(before)], before)
            before = sent
            self.assertLess(len(json.dumps(sent)), 4 * WINDOW)
            e.update_from_response({"prompt_tokens": WINDOW, "completion_tokens": 1, "total_tokens": WINDOW + 1})
            self.assertFalse(e.should_compress(), "the session is left as it is")
        self.assertGreater(e.compression_count, 1)
        self.assertIn(text(0)[:200], json.loads(e.handle_tool_call("precis_expand", {"handle": "m2.b0"}))["text"])
        self.assertEqual([t["name"] for t in e.get_tool_schemas()], ["precis_expand"])
        self.assertEqual(e.get_status()["context_length"], WINDOW)

    def test_a_host_that_compresses(self):
        e = self.engine("s2")
        history = chat(20, "an old hermes")
        e.update_from_response({"prompt_tokens": 7000, "completion_tokens": 1, "total_tokens": 7001})
        self.assertTrue(e.should_compress())
        out = e.compress(history, current_tokens=7000, focus_topic="files")
        self.assertLess(len(json.dumps(out)), len(json.dumps(history)) / 2)
        self.assertIn(RULE, json.dumps(out))
        again = e.compress(out + chat(20)[1:], current_tokens=7000)
        self.assertLess(len(json.dumps(again)), 4 * WINDOW)
        self.assertIn("text", json.loads(e.handle_tool_call("precis_expand", {"handle": "m0"})))
        self.assertIn("error", json.loads(e.handle_tool_call("precis_expand", {"handle": "nonsense"})))

    def test_behind_a_gateway_nothing_is_done(self):
        with mock.patch.dict(os.environ, {"PRECIS_GATEWAY": "1"}):
            e = self.engine("s3")
        history = chat(20)
        e.update_from_response({"prompt_tokens": WINDOW, "completion_tokens": 1, "total_tokens": WINDOW + 1})
        self.assertIsNone(e.select_context(history, budget_tokens=WINDOW))
        self.assertFalse(e.should_compress())


class HermesWithoutServer(Hermes):
    """The same where precis is started for each request."""

    environment = {"PRECIS_URL": ""}

    def test_without_precis_hermes_compresses_by_itself(self):
        module = hermes()
        module.PRECIS = "/nowhere/precis"
        with self.assertRaises(FileNotFoundError):
            module.PrecisEngine()


class HermesWithout(unittest.TestCase):
    """Whatever fails, requests go as they are."""

    def unchanged(self, e):
        history = chat(2)
        self.assertIsNone(e.select_context(history))
        self.assertIsNotNone(e.error)
        self.assertIs(e.compress(history), history)
        self.assertIn("error", json.loads(e.handle_tool_call("precis_expand", {"handle": "m0"})))

    def test_no_server(self):
        self.unchanged(hermes().PrecisEngine(url="http://127.0.0.1:1", timeout=2))

    def test_a_program_that_fails(self):
        for script in ("exit 3", "echo nonsense", "exec sleep 60"):
            with self.subTest(script), tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"PRECIS_URL": ""}):
                module = hermes()
                module.PRECIS = os.path.join(folder, "precis")
                with open(module.PRECIS, "w") as f:
                    f.write("#!/bin/sh\n" + script + "\n")
                os.chmod(module.PRECIS, 0o755)
                e, begun = module.PrecisEngine(timeout=1), time.monotonic()
                self.unchanged(e)
                self.assertLess(time.monotonic() - begun, 2, "what hangs is not started again")


if __name__ == "__main__":
    unittest.main()
