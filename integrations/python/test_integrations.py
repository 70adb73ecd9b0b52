"""Runs against the precis serve at PRECIS_URL."""

import asyncio
import copy
import importlib.util
import json
import os
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from precis_engine import Engine, PrecisError

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


class Engines(unittest.TestCase):
    def test_a_view_and_what_it_hides(self):
        engine = Engine()
        view = engine.post("assemble", {"model": "m", "messages": chat(20), "window": WINDOW, "conversation": "python"})
        self.assertLess(len(json.dumps(view["messages"])), 4 * WINDOW)
        whole, offset = "", 0
        while True:
            piece, offset = engine.expand("m2", "python", offset)
            whole += piece
            if not offset:
                break
        self.assertIn(text(0), whole)

    def test_errors_have_codes(self):
        with self.assertRaises(PrecisError) as e:
            Engine().post("expand", {"handle": "m0", "conversation": "nobody"})
        self.assertEqual(e.exception.code, "not_found")


def guardrails():
    """Makes guardrails with settings, of a class that stands in for LiteLLM's."""

    class CustomGuardrail:
        def __init__(self, guardrail_name=None, event_hook=None, default_on=False):
            self.guardrail_name, self.event_hook = guardrail_name, event_hook

    names = ["litellm", "litellm.integrations", "litellm.integrations.custom_guardrail"]
    with mock.patch.dict(sys.modules, {n: types.ModuleType(n) for n in names}):
        sys.modules[names[-1]].CustomGuardrail = CustomGuardrail
        module = importlib.import_module("precis_litellm")

    def made(engine=None, **settings):
        guard = type("Guard", (module.PrecisGuardrail,), settings)(guardrail_name="precis", event_hook="pre_call", default_on=True)
        guard.engine = engine or guard.engine
        return guard

    return made


class LiteLLM(unittest.TestCase):
    """As the proxy calls a guardrail, by its documentation; not in LiteLLM itself."""

    made = staticmethod(guardrails())

    def call(self, guard, data, call_type="acompletion", **key):
        who = types.SimpleNamespace(**{"key_alias": None, "team_alias": None, "team_id": None, **key})
        return asyncio.run(guard.async_pre_call_hook(who, None, data, call_type))

    def test_the_request_becomes_its_view(self):
        for make, field, call_type in ((chat, "messages", "acompletion"), (anthropic, "messages", "anthropic_messages"), (responses, "input", "aresponses")):
            guard = self.made(window=WINDOW)
            before = []
            for n in range(1, 41):
                data = {"model": "m", field: make(n, call_type), "litellm_session_id": call_type, "litellm_logging_obj": object()}
                with self.assertLogs("precis", "INFO") as logged:
                    out = self.call(guard, data, call_type, team_id="t1")
                sent, receipt = out[field], out["metadata"]["precis"]
                self.assertLess(len(json.dumps(sent)), 4 * WINDOW)
                self.assertLessEqual(receipt["tokens_after"], WINDOW)
                self.assertIn(RULE, json.dumps(sent))
                self.assertEqual(sent[-1], make(n, call_type)[-1])
                self.assertNotIn("value", "".join(logged.output))
            self.assertGreater(receipt["tokens_before"], WINDOW)
            self.assertTrue(receipt["hidden"])
            self.assertIn("text", Engine().post("expand", {"conversation": "t1 " + call_type, "handle": receipt["hidden"][0]}))

    def test_shadow_changes_nothing(self):
        data, asked = {"model": "m", "messages": chat(20, "shadow"), "metadata": {"session_id": "s1"}}, chat(20, "shadow")
        out = self.call(self.made(shadow=True, window=WINDOW), data)
        self.assertEqual(out["messages"], asked)
        receipt = out["metadata"]["precis"]
        self.assertTrue(receipt["shadow"] and receipt["hidden"])
        self.assertLess(receipt["tokens_after"], WINDOW)

    def test_the_profile_of_a_key_or_team(self):
        guard = self.made(window=WINDOW, profiles={"ann": "off", "red": "frugal"})
        for key, want in (({"key_alias": "ann", "team_alias": "red"}, "off"), ({"team_alias": "red"}, "frugal"), ({"key_alias": "bob"}, None)):
            receipt = self.call(guard, {"model": "m", "messages": chat(20, str(key))}, **key)["metadata"]["precis"]
            self.assertEqual(receipt["profile"], want)
            self.assertEqual(receipt["tokens_after"] == receipt["tokens_before"], want == "off")

    def test_what_is_no_turn_and_what_fails(self):
        for guard, data, call_type in (
            (self.made(), {"model": "m", "input": "a text"}, "embeddings"),
            (self.made(), {"model": "m", "input": "a text"}, "aresponses"),
            (self.made(engine=Engine(url="http://127.0.0.1:1")), {"model": "m", "messages": chat(2)}, "acompletion"),
            (self.made(profiles={"ann": "nobody's"}), {"model": "m", "messages": chat(2)}, "acompletion"),
        ):
            asked = copy.deepcopy(data)
            out = self.call(guard, data, call_type, key_alias="ann")
            self.assertEqual({k: out[k] for k in asked}, asked)
            self.assertNotIn("precis", out.get("metadata") or {})


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
