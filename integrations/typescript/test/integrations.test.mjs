// Runs the adapters with the packages of npm, against the precis serve at PRECIS_URL
// and an API that says what it is told to.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";
import { createAgent, tool } from "langchain";
import OpenAI from "openai";
import { Engine, PrecisError } from "../dist/precis.js";
import { precisMiddleware } from "../dist/langchain.js";

const window = 8000, rule = "Never touch main.go.";
const text = (i) => Array.from({ length: 120 }, (_, k) => `value ${k * 31 + i} of file ${i}\n`).join("");
let api, base, bodies = [];

before(async () => {
  api = createServer(async (req, res) => {
    let body = "";
    for await (const piece of req) body += piece;
    bodies.push(JSON.parse(body));
    res.setHeader("Content-Type", "application/json");
    if (req.url.endsWith("/messages"))
      res.end(JSON.stringify({ id: "m", type: "message", role: "assistant", model: "m", content: [{ type: "text", text: "ok" }], stop_reason: "end_turn", usage: { input_tokens: 1, output_tokens: 1 } }));
    else if (req.url.endsWith("/responses"))
      res.end(JSON.stringify({ id: "r", object: "response", status: "completed", model: "m", output: [{ type: "message", id: "o", role: "assistant", status: "completed", content: [{ type: "output_text", text: "ok", annotations: [] }] }] }));
    else res.end(JSON.stringify({ id: "c", object: "chat.completion", model: "m", choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }] }));
  });
  await new Promise((done) => api.listen(0, "127.0.0.1", done));
  base = `http://127.0.0.1:${api.address().port}`;
});
after(() => api.close());

function fits(body, list) {
  const sent = JSON.stringify(body);
  assert.ok(sent.length < 4 * window, `${sent.length} bytes were sent`);
  assert.ok(sent.includes(rule));
  assert.deepEqual(body[list].at(-1), bodies.asked[list].at(-1));
}

const task = (who) => ({ role: "user", content: `Read the files for ${who}. ${rule}` });

test("openai, Chat Completions", async () => {
  const client = new OpenAI({ apiKey: "k", baseURL: base + "/v1" }), precis = new Engine();
  const messages = [task("chat")];
  for (let i = 0; i < 20; i++)
    messages.push({ role: "assistant", content: null, tool_calls: [{ id: `t${i}`, type: "function", function: { name: "read", arguments: "{}" } }] }, { role: "tool", tool_call_id: `t${i}`, content: text(i) });
  const request = (bodies.asked = { model: "m", messages });
  const answer = await client.chat.completions.create(await precis.view(request, "npm chat", { window }));
  assert.equal(answer.choices[0].message.content, "ok");
  assert.equal(precis.error, undefined);
  fits(bodies.at(-1), "messages");
  let whole = "";
  for (let at = 0, first = true; first || at; first = false) {
    const piece = await precis.expand("m2", "npm chat", at);
    whole += piece.text;
    at = piece.next;
  }
  assert.ok(whole.includes(text(0)));
});

test("openai, Responses", async () => {
  const client = new OpenAI({ apiKey: "k", baseURL: base + "/v1" }), precis = new Engine();
  const input = [task("responses")];
  for (let i = 0; i < 20; i++)
    input.push({ type: "function_call", call_id: `t${i}`, name: "read", arguments: "{}" }, { type: "function_call_output", call_id: `t${i}`, output: text(i) });
  bodies.asked = { model: "m", input };
  const answer = await client.responses.create(await precis.view(bodies.asked, undefined, { window }));
  assert.equal(answer.output_text, "ok");
  fits(bodies.at(-1), "input");
});

test("@anthropic-ai/sdk", async () => {
  const client = new Anthropic({ apiKey: "k", baseURL: base }), precis = new Engine();
  const messages = [task("anthropic")];
  for (let i = 0; i < 20; i++)
    messages.push({ role: "assistant", content: [{ type: "tool_use", id: `t${i}`, name: "read", input: {} }] }, { role: "user", content: [{ type: "tool_result", tool_use_id: `t${i}`, content: text(i) }] });
  bodies.asked = { model: "m", max_tokens: 100, messages };
  const answer = await client.messages.create(await precis.view(bodies.asked, "npm anthropic", { window }));
  assert.equal(answer.content[0].text, "ok");
  fits(bodies.at(-1), "messages");
});

test("errors and an engine that is away", async () => {
  await assert.rejects(new Engine().post("expand", { handle: "m0", conversation: "nobody" }), (e) => e instanceof PrecisError && e.code === "not_found");
  const precis = new Engine("http://127.0.0.1:1"), request = { model: "m", messages: [] };
  assert.equal(await precis.view(request), request);
  assert.ok(precis.error);
});

// A model that reads one file after the other, and remembers what it was sent.
class Reader extends BaseChatModel {
  seen = [];
  _llmType() { return "reader"; }
  bindTools() { return this; }
  async _generate(messages) {
    this.seen.push(messages);
    const n = this.seen.length;
    const message = n > 20 ? new AIMessage("All read.") : new AIMessage({ content: "", tool_calls: [{ id: `t${n}`, name: "read", args: { file: n } }] });
    return { generations: [{ text: "", message }] };
  }
}

test("langchain", async () => {
  const model = new Reader({}), engine = new Engine();
  const read = tool(({ file }) => text(file), { name: "read", description: "reads a file", schema: { type: "object", properties: { file: { type: "number" } } } });
  const agent = createAgent({ model, tools: [read], systemPrompt: "You read files.", middleware: [precisMiddleware({ engine, window, conversation: () => "npm langchain" })] });
  const end = await agent.invoke({ messages: [task("langchain")] }, { recursionLimit: 100 });
  assert.equal(engine.error, undefined);
  assert.equal(end.messages.length, 1 + 20 * 2 + 1, "the state keeps every message");
  assert.equal(end.messages[2].content, text(1));
  for (const sent of model.seen) {
    const size = sent.reduce((n, m) => n + JSON.stringify(m.content).length, 0);
    assert.ok(size < 4 * window, `${size} bytes were sent`);
    assert.ok(sent.some((m) => String(m.content).includes(rule)));
    const calls = sent.flatMap((m) => m.tool_calls?.map((c) => c.id) ?? []), results = sent.flatMap((m) => m.tool_call_id ?? []);
    assert.deepEqual(calls, results);
  }
  assert.ok(model.seen.at(-1).length < 41 || model.seen.at(-1).some((m) => String(m.content).startsWith("[")));
});
