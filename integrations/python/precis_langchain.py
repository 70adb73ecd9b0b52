"""A middleware for LangChain agents: the model sees the view of precis, the state keeps every message.

    agent = create_agent(model, tools, middleware=[PrecisMiddleware(window=200_000)])
"""

import asyncio
import copy
import json

from precis_engine import Engine

try:
    from langchain.agents.middleware import AgentMiddleware
except ImportError:  # the class works by what it has, not by what it is
    AgentMiddleware = object

ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}


def to_chat(m):
    """Returns a message as Chat Completions has it."""
    out = {"role": ROLES.get(m.type, "user"), "content": m.content}
    if m.type == "tool":
        out["tool_call_id"] = m.tool_call_id
    if getattr(m, "tool_calls", None):
        out["tool_calls"] = [
            {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": json.dumps(c["args"])}} for c in m.tool_calls
        ]
    return out


def changed(m, content):
    """Returns a copy of a message with another content."""
    if hasattr(m, "model_copy"):
        return m.model_copy(update={"content": content})
    m = copy.copy(m)
    m.content = content
    return m


def message(role, content):
    """Makes a message that nobody has said: a summary, or a marker."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

    return {"assistant": AIMessage, "system": SystemMessage}.get(role, HumanMessage)(content=content)


def from_chat(view, sent, originals, make=message):
    """Returns the messages of a view: those that are not changed are the very same objects."""
    out, at = [], 0
    for v in view:
        found = next((i for i in range(at, len(sent)) if sent[i] == v), None)
        if found is None and v.get("tool_call_id"):  # a result that was shortened
            found = next((i for i in range(at, len(sent)) if sent[i].get("tool_call_id") == v["tool_call_id"]), None)
        if found is None and v.get("tool_calls"):
            ids = [c["id"] for c in v["tool_calls"]]
            found = next((i for i in range(at, len(sent)) if [c["id"] for c in sent[i].get("tool_calls", [])] == ids), None)
        if found is None:
            out.append(make(v["role"], v["content"]))
            continue
        original, at = originals[found], found + 1
        if sent[found] == v:
            out.append(original)
            continue
        new = changed(original, v.get("content") or "")
        if v.get("tool_calls"):
            calls = [{**c, "args": json.loads(w["function"]["arguments"])} for c, w in zip(original.tool_calls, v["tool_calls"])]
            new = new.model_copy(update={"tool_calls": calls}) if hasattr(new, "model_copy") else new
            new.tool_calls = calls
        out.append(new)
    return out


class PrecisMiddleware(AgentMiddleware):
    """Puts the view in the place of the messages of each model call.

    conversation names the conversation of a request; by default it is the thread of
    the run. window is that of the model in tokens; None: what precis knows of it.
    """

    def __init__(self, engine=None, window=None, conversation=None, make=message):
        super().__init__()
        self.engine, self.window, self.conversation, self.make = engine or Engine(), window, conversation, make

    def reduced(self, request):
        sent = [to_chat(m) for m in request.messages]
        system = getattr(request, "system_message", None)
        lead = [to_chat(system)] if system is not None and system.content else []
        options = {"dialect": "chat", "model": getattr(request.model, "model_name", None) or "unknown"}
        if self.window:
            options["window"] = self.window
        name = self.conversation(request) if self.conversation else thread_of(request)
        view = self.engine.view({"messages": lead + sent}, name, **options)
        if self.engine.error:
            return request
        return request.override(messages=from_chat(view["messages"][len(lead):], sent, request.messages, self.make))

    def wrap_model_call(self, request, handler):
        return handler(self.reduced(request))

    async def awrap_model_call(self, request, handler):
        return await handler(await asyncio.to_thread(self.reduced, request))


def thread_of(request):
    """Returns the thread of a run; None outside of one: nothing is remembered then."""
    runtime = getattr(request, "runtime", None)
    info = getattr(runtime, "execution_info", None)
    thread = getattr(info, "thread_id", None)
    if thread is None:
        try:
            from langgraph.config import get_config

            thread = get_config().get("configurable", {}).get("thread_id")
        except (ImportError, RuntimeError):
            return None
    return "langchain " + str(thread) if thread else None
