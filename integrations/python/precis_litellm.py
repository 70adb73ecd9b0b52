"""A guardrail of the LiteLLM proxy: a request to a model is sent as the view of its conversation.

    guardrails:
      - guardrail_name: precis
        litellm_params: {guardrail: precis_guard.Guard, mode: pre_call, default_on: true}

with precis_guard.py in the folder of config.yaml:

    from precis_litellm import PrecisGuardrail

    class Guard(PrecisGuardrail):
        profiles = {"red team": "frugal"}
"""

import asyncio
import logging

from litellm.integrations.custom_guardrail import CustomGuardrail

from precis_engine import FAILURES, Engine, beginning

log = logging.getLogger("precis")
DIALECTS = {"completion": "chat", "acompletion": "chat", "anthropic_messages": "anthropic", "responses": "responses", "aresponses": "responses"}
# What of a request decides its view; the rest is LiteLLM's own.
FIELDS = ("model", "messages", "input", "system", "instructions", "tools", "thinking", "max_tokens", "max_completion_tokens", "max_output_tokens", "previous_response_id")


class PrecisGuardrail(CustomGuardrail):
    """Subclasses override the settings. When precis fails, requests are sent as they are."""

    shadow = False  # requests are not changed, and the receipt says what would have been done
    profiles = {}  # profiles of precis by the alias of a key, the alias of a team, or its ID
    window = None  # of the models, in tokens; None: the one that precis knows

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.engine = Engine()

    async def async_pre_call_hook(self, user_api_key_dict, cache, data, call_type):
        body = {k: data[k] for k in FIELDS if data.get(k) is not None}
        if call_type not in DIALECTS or not isinstance(body.get("messages", body.get("input")), list):
            return data
        metadata = data.get("litellm_metadata") or data.get("metadata")
        if not isinstance(metadata, dict):
            metadata = data["metadata"] = {}
        who = [w for w in (getattr(user_api_key_dict, k, None) for k in ("key_alias", "team_alias", "team_id")) if w]
        session = data.get("litellm_session_id") or metadata.get("session_id")  # a trace may be of one request only
        name = " ".join([*who[:1], str(session or beginning(body))])[:100]  # 200 bytes are allowed
        profile = next((self.profiles[w] for w in who if w in self.profiles), None)
        given = {"conversation": name, "dialect": DIALECTS[call_type], "profile": profile, "window": self.window}
        body.update({k: v for k, v in given.items() if v})
        try:
            view = await asyncio.to_thread(self.engine.post, "assemble", body)
        except FAILURES as e:
            log.warning("the request is sent as it is: %s", getattr(e, "code", type(e).__name__))
            return data
        hidden = [h["handle"] for h in view["hidden"]]
        metadata["precis"] = {"shadow": self.shadow, "conversation": view["conversation"]["id"], "profile": profile,
                              "tokens_before": view["tokens_before"], "tokens_after": view["tokens_after"], "hidden": hidden}
        log.info("%s: %d of %d tokens %s, %d parts hidden", view["conversation"]["id"], view["tokens_after"], view["tokens_before"],
                 "would be sent" if self.shadow else "are sent", len(hidden))
        if not self.shadow:
            data.update({view["list"]: view["messages"], **view.get("set", {})})
            if view.get("beta"):
                headers = data["extra_headers"] = dict(data.get("extra_headers") or {})
                headers["anthropic-beta"] = ",".join(filter(None, [headers.get("anthropic-beta"), view["beta"]]))
        return data
