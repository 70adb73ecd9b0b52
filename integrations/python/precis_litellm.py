"""A guardrail of the LiteLLM proxy: a request to a model is sent as the view of its conversation.

    guardrails:
      - guardrail_name: precis
        litellm_params: {guardrail: precis_litellm.PrecisGuardrail, mode: pre_call, default_on: true}
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
    """shadow: requests are not changed, and the receipt says what would have been done. profiles are profiles
    of precis by the alias of a key, the alias of a team, or its ID; window is that of the models in tokens.
    When precis fails, requests are sent as they are."""

    def __init__(self, engine=None, shadow=False, profiles=None, window=None, **kwargs):
        super().__init__(**kwargs)
        self.engine, self.shadow, self.profiles, self.window = engine or Engine(), shadow, profiles or {}, window

    async def async_pre_call_hook(self, user_api_key_dict, cache, data, call_type):
        body = {k: data[k] for k in FIELDS if data.get(k) is not None}
        if call_type not in DIALECTS or not isinstance(body.get("messages", body.get("input")), list):
            return data
        metadata = data.get("litellm_metadata") or data.get("metadata")
        if not isinstance(metadata, dict):
            metadata = data["metadata"] = {}
        who = [w for w in (getattr(user_api_key_dict, k, None) for k in ("key_alias", "team_alias", "team_id")) if w]
        session = data.get("litellm_session_id") or metadata.get("session_id") or data.get("litellm_trace_id") or metadata.get("trace_id")
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
