"""precis as the context engine of Hermes: every request is a view that fits, and nothing is lost.

Written by "precis install hermes", removed by "precis uninstall hermes". With PRECIS_URL (and
PRECIS_KEY) in the environment it asks that precis serve or gateway instead of starting precis
for each request.

Hermes keeps every message: select_context changes the request alone. A Hermes without that hook
compresses, and its list then becomes the view. When precis fails, requests go as they are.
"""

import json
import os
import shutil
import subprocess
import urllib.error
import urllib.request

try:
    from agent.context_engine import ContextEngine
except ImportError:  # outside of Hermes
    ContextEngine = object

PRECIS = "PRECIS"

EXPAND = {
    "name": "precis_expand",
    "description": "Read messages again that the conversation no longer shows. Handles such as m12, m12-m40 or m12.b3 stand in summaries, markers and previews.",
    "parameters": {
        "type": "object",
        "properties": {
            "handle": {"type": "string", "description": "m12, m12-m40 or m12.b3"},
            "offset": {"type": "integer", "description": "next_offset of an earlier answer"},
        },
        "required": ["handle"],
    },
}


class PrecisEngine(ContextEngine):
    """The engine. Each agent of Hermes has a copy, for one conversation at a time."""

    name = "precis"
    last_prompt_tokens = last_completion_tokens = last_total_tokens = 0
    context_length = threshold_tokens = compression_count = 0
    threshold_percent = 0.75
    protect_first_n, protect_last_n = 0, 0
    emit_automatic_compaction_status = True

    def __init__(self, url=None, key=None, timeout=15):
        self.url = (url or os.environ.get("PRECIS_URL") or "").rstrip("/")
        self.key, self.timeout = key or os.environ.get("PRECIS_KEY"), timeout
        if not self.url and not shutil.which(PRECIS):  # Hermes then compresses by itself
            raise FileNotFoundError(PRECIS + " is gone; install precis again, or set context.engine to compressor")
        self.behind = bool(os.environ.get("PRECIS_GATEWAY"))  # a gateway does the work
        self.error = None  # of the newest call; None: it succeeded
        self.hung = False  # precis did not answer in time: it is not started again
        self.model = ""
        self._forget("")

    def _forget(self, session):
        self._session, self._part = session, 0
        self._source = None  # whose handles the model sees: a conversation's ID, or the messages
        self._selects = False  # the host asks for a view of each request

    # What Hermes reports.

    def update_from_response(self, usage):
        self.last_prompt_tokens = usage.get("prompt_tokens", 0)
        self.last_completion_tokens = usage.get("completion_tokens", 0)
        self.last_total_tokens = usage.get("total_tokens", 0)

    def update_model(self, model, context_length, base_url="", api_key="", provider="", api_mode=""):
        self.model, self.context_length = model, context_length
        self.threshold_tokens = int(context_length * self.threshold_percent)

    def on_session_start(self, session_id, **kwargs):
        if session_id != self._session:
            self._forget(session_id)

    def on_session_end(self, session_id, messages):
        pass

    def on_session_reset(self):
        self.last_prompt_tokens = self.last_completion_tokens = self.last_total_tokens = self.compression_count = 0
        self._forget("")

    def get_status(self):
        used = max(self.last_prompt_tokens, 0)
        return {
            "last_prompt_tokens": used, "threshold_tokens": self.threshold_tokens, "context_length": self.context_length,
            "usage_percent": min(100, used / self.context_length * 100) if self.context_length else 0, "compression_count": self.compression_count,
        }

    # The view.

    def select_context(self, request_messages, *, conversation_messages=None, incoming_message=None, budget_tokens=0):
        v = self._assemble(request_messages, budget_tokens or self.context_length)
        self._selects = v is not None
        if v is None:
            return None
        self.compression_count += v["acted"]
        return v["messages"] if v["changed"] else None

    def should_compress(self, prompt_tokens=None):
        tokens = self.last_prompt_tokens if prompt_tokens is None else prompt_tokens
        return not self._selects and not self.behind and 0 < self.threshold_tokens <= tokens

    def should_compress_info(self, prompt_tokens=None):
        return self.should_compress(prompt_tokens), str(self.error) if self.error else None

    def should_compress_preflight(self, messages):
        return False

    def has_content_to_compress(self, messages):
        return len(messages) > 3

    def should_defer_preflight_to_real_usage(self, rough_tokens):
        return self._selects

    def prune_tool_results_only(self, messages, current_tokens=None):
        return messages, 0

    def pending_compression_operation(self, messages):
        return None

    def on_turn_complete(self, messages, usage=None, **kwargs):
        return None

    def get_automatic_compaction_status_message(self, *, phase, default_message, **context):
        return default_message

    def compress(self, messages, current_tokens=None, focus_topic=None, force=False, memory_context=""):
        v = self._assemble(messages, self.context_length, now=True, focus=focus_topic)
        if v is None or not v["changed"]:
            return messages
        self._part += 1  # what the host keeps from now on is another list
        self.compression_count += 1
        return v["messages"]

    # Tools.

    def get_tool_schemas(self):
        return [EXPAND]

    def handle_tool_call(self, name, args, **kwargs):
        if name != EXPAND["name"]:
            return json.dumps({"error": "unknown context engine tool: " + name})
        if not self._source:
            return json.dumps({"error": "nothing is hidden"})
        body = {"handle": str(args.get("handle", "")), "offset": int(args.get("offset") or 0)}
        body["conversation" if isinstance(self._source, str) else "messages"] = self._source
        r = self._ask("expand", body)
        return json.dumps({"error": str(self.error or "there is no such message")} if r is None else {k: r[k] for k in ("text", "next_offset", "total_bytes") if k in r})

    def _assemble(self, messages, window, **more):
        if self.behind:
            return None
        body = {"dialect": "chat", "model": self.model or "unknown", "messages": messages}
        if window:
            body["window"] = window
        if self._session:
            body["conversation"] = "hermes %s %d" % (self._session, self._part)
        body.update({k: v for k, v in more.items() if v})
        v = self._ask("assemble", body)
        if v is not None:
            self._source = v.get("conversation", {}).get("id") or messages
        return v

    def _ask(self, verb, body):
        """Returns the answer; None when there is none, and error says why."""
        if self.hung:
            return None
        self.error = None
        try:
            data = json.dumps(body).encode()
            return self._served(verb, data) if self.url else self._run(verb, data)
        except subprocess.TimeoutExpired as e:
            self.error, self.hung = e, True
        except urllib.error.HTTPError as e:
            self.error = e.read(4096).decode("utf-8", "replace")
        except (OSError, ValueError, TypeError, subprocess.SubprocessError) as e:
            self.error = e
        return None

    def _run(self, verb, data):
        out = subprocess.run([PRECIS, "hook", "hermes", verb], input=data, capture_output=True, timeout=self.timeout, check=True).stdout
        return json.loads(out) if out.strip() else None  # precis stats hosts says why there is none

    def _served(self, verb, data):
        headers = {"Content-Type": "application/json", "User-Agent": "precis-hermes"}
        if self.key:
            headers["X-Precis-Key"] = self.key
        req = urllib.request.Request(self.url + "/precis/api/v1/" + verb, data, headers)
        with urllib.request.urlopen(req, timeout=self.timeout) as res:
            return json.load(res)


def register(ctx):
    ctx.register_context_engine(PrecisEngine())
