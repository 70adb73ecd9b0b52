// A middleware for LangChain agents: the model sees the view of precis, the state
// keeps every message.
//
//   const agent = createAgent({ model, tools, middleware: [precisMiddleware({ window: 200_000 })] });

import { AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { Engine } from "./precis.js";

interface Call {
  id?: string;
  type: "function";
  function: { name: string; arguments: string };
}

interface Chat {
  role: string;
  content: any;
  tool_calls?: Call[];
  tool_call_id?: string;
}

const roles: Record<string, string> = { human: "user", ai: "assistant", system: "system", tool: "tool" };

function toChat(m: BaseMessage): Chat {
  const out: Chat = { role: roles[m.type] ?? "user", content: m.content };
  if (m instanceof ToolMessage) out.tool_call_id = m.tool_call_id;
  if (m instanceof AIMessage && m.tool_calls?.length)
    out.tool_calls = m.tool_calls.map((c) => ({ id: c.id, type: "function", function: { name: c.name, arguments: JSON.stringify(c.args) } }));
  return out;
}

function fromChat(m: Chat): BaseMessage {
  const content = m.content ?? "";
  switch (m.role) {
    case "assistant":
      return new AIMessage({ content, tool_calls: (m.tool_calls ?? []).map((c) => ({ id: c.id, name: c.function.name, args: JSON.parse(c.function.arguments) })) });
    case "tool":
      return new ToolMessage({ content, tool_call_id: m.tool_call_id ?? "" });
    case "system":
      return new SystemMessage({ content });
  }
  return new HumanMessage({ content });
}

/** Returns the messages of a view: those that are not changed are the very same objects. */
function restored(view: Chat[], sent: Chat[], originals: BaseMessage[]): BaseMessage[] {
  const texts = sent.map((m) => JSON.stringify(m));
  let at = 0;
  return view.map((v) => {
    const found = texts.indexOf(JSON.stringify(v), at);
    if (found < 0) return fromChat(v);
    at = found + 1;
    return originals[found];
  });
}

export interface PrecisOptions {
  engine?: Engine;
  /** Of the model, in tokens; absent: what precis knows of it. */
  window?: number;
  model?: string;
  /** Names the conversation of a request; absent: by the thread of the run. */
  conversation?: (request: any) => string | undefined;
}

export function precisMiddleware(options: PrecisOptions = {}) {
  const engine = options.engine ?? new Engine();
  const named = options.conversation ?? ((request: any) => {
    const thread = request.runtime?.configurable?.thread_id;
    return thread ? `langchain ${thread}` : undefined;
  });
  return createMiddleware({
    name: "Precis",
    wrapModelCall: async (request, handler) => {
      const sent = request.messages.map(toChat);
      const lead = request.systemMessage?.content?.length ? [toChat(request.systemMessage)] : [];
      const view = await engine.view({ model: options.model ?? "unknown", messages: [...lead, ...sent] }, named(request), { dialect: "chat", window: options.window });
      if (engine.error) return handler(request);
      return handler({ ...request, messages: restored(view.messages.slice(lead.length), sent, request.messages) });
    },
  });
}
