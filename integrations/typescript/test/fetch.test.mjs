// Runs precisFetch inside the packages of npm, against the precis serve at PRECIS_URL and an API that
// asks for one file after another.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, run, setTracingDisabled, tool as agentTool } from "@openai/agents";
import { generateText, jsonSchema, stepCountIs, streamText, tool as aiTool } from "ai";
import { createAgent, tool as chainTool } from "langchain";
import OpenAI from "openai";
import { Engine, PrecisError, precisFetch } from "precis-fetch";

const window = 8000, requests = 40;
const said = (client) => `Read the files one by one for ${client}. Never touch main.go, and keep to tabs.`;
const text = (i) => Array.from({ length: 60 }, (_, k) => `value ${k * 31 + i} of file ${i}\n`).join("");
const schema = { type: "object", properties: { file: { type: "number" } }, required: ["file"], additionalProperties: false };
let api, base;
const seen = {}, refused = {}; // the bodies of each client that were answered, and how many were too long

// What the API counts: more than precis does, until that has learned it.
const count = (body) => Math.ceil(JSON.stringify(body).length / 2.2);

// What the model says to the n-th request of a client: a call, at last a text. Each API in its own words.
const says = {
  messages: (n, end, tokens) => ({
    id: `m${n}`, type: "message", role: "assistant", model: "m", stop_reason: end ? "end_turn" : "tool_use", stop_sequence: null,
    content: [end ? { type: "text", text: "All read." } : { type: "tool_use", id: `t${n}`, name: "read", input: { file: n } }],
    usage: { input_tokens: 10, cache_read_input_tokens: tokens - 10, cache_creation_input_tokens: 0, output_tokens: 9 },
  }),
  completions: (n, end, tokens) => ({
    id: `c${n}`, object: "chat.completion", created: 1, model: "m",
    choices: [{
      index: 0, finish_reason: end ? "stop" : "tool_calls",
      message: { role: "assistant", content: end ? "All read." : null, ...(end ? {} : { tool_calls: [{ index: 0, id: `t${n}`, type: "function", function: { name: "read", arguments: `{"file":${n}}` } }] }) },
    }],
    usage: { prompt_tokens: tokens, completion_tokens: 9, total_tokens: tokens + 9 },
  }),
  responses: (n, end, tokens) => ({
    id: `r${n}`, object: "response", created_at: 1, status: "completed", model: "m", error: null, incomplete_details: null,
    output: [end
      ? { type: "message", id: `o${n}`, role: "assistant", status: "completed", content: [{ type: "output_text", text: "All read.", annotations: [] }] }
      : { type: "function_call", id: `f${n}`, call_id: `t${n}`, name: "read", arguments: `{"file":${n}}`, status: "completed" }],
    usage: { input_tokens: tokens, output_tokens: 9, total_tokens: tokens + 9, input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
  }),
};

// The events of an answer, as Chat Completions and Messages stream it.
function events(kind, answer) {
  if (kind === "completions") {
    const { choices: [{ message, finish_reason }], usage, ...rest } = answer, object = "chat.completion.chunk";
    return [{ ...rest, object, choices: [{ index: 0, delta: message, finish_reason: null }], usage: null },
      { ...rest, object, choices: [{ index: 0, delta: {}, finish_reason }] }, { ...rest, object, choices: [], usage }].map((e) => `data: ${JSON.stringify(e)}\n\n`).concat("data: [DONE]\n\n");
  }
  const { content: [block], stop_reason, ...message } = answer, empty = block.text ? { ...block, text: "" } : { ...block, input: {} };
  const delta = block.text ? { type: "text_delta", text: block.text } : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
  return [{ type: "message_start", message: { ...message, content: [], stop_reason: null } }, { type: "content_block_start", index: 0, content_block: empty },
    { type: "content_block_delta", index: 0, delta }, { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 9 } }, { type: "message_stop" }].map((e) => `event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`);
}

before(async () => {
  setTracingDisabled(true);
  api = createServer(async (req, res) => {
    let body = "";
    for await (const piece of req) body += piece;
    assert.equal(req.headers["x-precis-conversation"], undefined, "the provider is not sent it");
    const [, client, ...path] = req.url.split("/"), list = (seen[client] ??= []), tokens = count(JSON.parse(body));
    if (tokens > window) {
      refused[client] = (refused[client] ?? 0) + 1;
      const message = `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens.`;
      return res.writeHead(400, { "Content-Type": "application/json" }).end(JSON.stringify({ error: { message } }));
    }
    list.push(JSON.parse(body));
    const kind = path.at(-1), answer = says[kind](list.length, list.length % requests === 0, count(list.at(-1)));
    if (!list.at(-1).stream) return res.setHeader("Content-Type", "application/json").end(JSON.stringify(answer));
    res.setHeader("Content-Type", "text/event-stream");
    for (const event of events(kind, answer)) for (const half of [event.slice(0, 30), event.slice(30)]) res.write(half);
    res.end();
  });
  await new Promise((done) => api.listen(0, "127.0.0.1", done));
  base = `http://127.0.0.1:${api.address().port}`;
});
after(() => api.close());

// A precisFetch for a client that must not fail, and what it asks precis and is answered.
function watched(options = {}) {
  const asked = [];
  const listening = async (url, init) => {
    const res = await fetch(url, init);
    if (String(url).endsWith("/assemble")) asked.push({ ...JSON.parse(init.body), ...(await res.clone().json()) });
    return res;
  };
  return [precisFetch({ window, fetch: listening, onError: (e) => assert.fail(e), ...options }), asked];
}

// Verifies what the API was sent: every request fits, has what the user said, and begins as the one before it
// unless the view was reduced.
function check(client, asked) {
  const bodies = seen[client], reports = asked.filter((v) => !v.reported?.status).map((v) => v.reported?.input);
  asked = asked.filter((v, n) => !asked[n + 1]?.reported?.status); // the views that were not refused
  assert.equal(bodies.length, requests);
  bodies.forEach((body, n) => {
    assert.ok(count(body) <= window, `request ${n} has ${count(body)} tokens`);
    assert.ok(JSON.stringify(body).includes(said(client)), `request ${n} lacks what the user said`);
    const list = body.messages ?? body.input, was = bodies[n - 1]?.messages ?? bodies[n - 1]?.input ?? [];
    if (!asked[n].acted) assert.deepEqual(list.slice(0, was.length).map(unmarked), was.map(unmarked), `request ${n} begins as the one before`);
    if (n > 0) assert.ok(JSON.stringify(list).includes(text(n).slice(0, 200).replaceAll("\n", "\\n")) || JSON.stringify(list).includes(text(n).slice(0, 200).replaceAll("\n", "\\\\n")), `request ${n} lacks the newest file`);
  });
  const reductions = asked.filter((v) => v.acted).length;
  assert.ok(reductions >= 3 && reductions <= 16, `${reductions} reductions`);
  assert.deepEqual(reports, [undefined, ...bodies.slice(0, -1).map(count)], "each count is reported with the next request");
}

// A message without the marker of a cache, which clients move to the newest one.
const unmarked = (m) => JSON.stringify(m, (k, v) => (k === "cache_control" ? undefined : v));

// Reads every file by chat completions, and returns all messages.
async function chat(name, model, stream, options = {}) {
  const [fetch, asked] = watched({ conversation: name, ...options });
  const client = new OpenAI({ apiKey: "k", baseURL: `${base}/${name}/v1`, fetch });
  const messages = [{ role: "system", content: "You read files." }, { role: "user", content: said(name) }];
  for (;;) {
    const answer = client.chat.completions.create({ model, messages, stream, ...(stream ? { stream_options: { include_usage: true } } : {}) });
    let message = { role: "assistant" };
    if (!stream) message = (await answer).choices[0].message;
    else for await (const chunk of await answer) Object.assign(message, chunk.choices[0]?.delta);
    messages.push(message);
    if (!message.tool_calls) break;
    const call = message.tool_calls[0];
    messages.push({ role: "tool", tool_call_id: call.id, content: text(JSON.parse(call.function.arguments).file) });
  }
  check(name, asked);
  return messages;
}

test("a window that nobody states: the first refusal teaches it, and the client sees none", async () => {
  for (const [model, stream] of [["gpt-4.1", false], ["gpt-4.1-mini", true]]) {
    const names = [1, 2, 3].map((n) => `unstated-${stream}-${n}`), unstated = { window: undefined };
    const messages = await chat(names[0], model, stream, unstated);
    await chat(names[1], model, !stream, unstated);
    const [fetch, asked] = watched({ conversation: names[2], ...unstated });
    await new OpenAI({ apiKey: "k", baseURL: `${base}/${names[2]}/v1`, fetch }).chat.completions.create({ model, messages: [{ role: "user", content: said(names[2]) }, ...messages.slice(2, -1)] });
    assert.deepEqual(names.map((name) => refused[name]), [1, undefined, undefined]);
    assert.equal(asked.length, 1);
    assert.ok(asked[0].acted && asked[0].window.tokens === window);
  }
});

test("what the provider refuses otherwise, or again, is passed on as it is", async () => {
  const long = { model: "gpt-4.1-nano", messages: [{ role: "user", content: said("again") }, { role: "assistant", content: text(1) }, ...[2, 3, 4].map((n) => ({ role: "user", content: text(n) }))] };
  for (const [error, tries] of [["maximum context length is 3000 tokens", 2], ["no such tool", 1]]) {
    const asked = [], sent = [], headers = { "X-Own": "1" };
    const plain = precisFetch({ conversation: error, onError: (e) => assert.fail(e), fetch: (url, init) => (String(url).includes("/precis/") ? (asked.push(url), fetch(url, init)) : (sent.push(init.body), Promise.resolve(new Response(error, { status: 400, headers })))) });
    const res = await plain(new Request("http://again/v1/chat/completions", { method: "POST", body: JSON.stringify(long) }));
    assert.deepEqual([res.status, await res.text(), res.headers.get("X-Own"), sent.length, asked.length], [400, error, "1", tries, 2]);
    if (tries > 1) assert.ok(sent[1].length < sent[0].length);
  }
});

test("openai, Chat Completions", async () => {
  for (const stream of [false, true]) {
    const name = `openai-chat-${stream}`;
    await chat(name, "m", stream);
    let whole = "";
    for (let at = 0, first = true; first || at; first = false) {
      const piece = await new Engine().expand("m2", name, at);
      whole += piece.text;
      at = piece.next;
    }
    assert.ok(whole.includes(text(1)), "what is hidden can be read");
  }
});

test("openai, Responses", async () => {
  const [fetch, asked] = watched(), client = new OpenAI({ apiKey: "k", baseURL: `${base}/openai-responses/v1`, fetch });
  const input = [{ role: "user", content: said("openai-responses") }];
  for (;;) {
    const { output } = await client.responses.create({ model: "m", instructions: "You read files.", input, store: false }, { headers: { "X-Precis-Conversation": "npm responses" } });
    input.push(...output);
    if (output[0].type !== "function_call") break;
    input.push({ type: "function_call_output", call_id: output[0].call_id, output: text(JSON.parse(output[0].arguments).file) });
  }
  check("openai-responses", asked);
  assert.ok((await new Engine().expand("m1", "npm responses")).text, "the header names the conversation");
});

test("@anthropic-ai/sdk", async () => {
  for (const stream of [false, true]) {
    const name = `anthropic-${stream}`, [fetch, asked] = watched(), client = new Anthropic({ apiKey: "k", baseURL: `${base}/${name}`, fetch });
    const messages = [{ role: "user", content: said(name) }];
    for (;;) {
      const request = { model: "m", max_tokens: 100, system: "You read files.", messages };
      const { content } = await (stream ? client.messages.stream(request).finalMessage() : client.messages.create(request));
      messages.push({ role: "assistant", content });
      if (content[0].type !== "tool_use") break;
      messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: content[0].id, content: text(content[0].input.file) }] });
    }
    check(name, asked);
  }
});

test("ai, with the providers of OpenAI and Anthropic", async () => {
  for (const name of ["ai-chat", "ai-responses", "ai-anthropic", "ai-stream"]) {
    const [fetch, asked] = watched(), options = { apiKey: "k", baseURL: `${base}/${name}/v1`, fetch };
    const model = { "ai-chat": createOpenAI(options).chat("m"), "ai-responses": createOpenAI(options).responses("m"), "ai-anthropic": createAnthropic(options)("m"), "ai-stream": createAnthropic(options)("m") }[name];
    const read = aiTool({ description: "reads a file", inputSchema: jsonSchema(schema), execute: ({ file }) => text(file) });
    const request = { model, maxOutputTokens: 100, system: "You read files.", prompt: said(name), tools: { read }, stopWhen: stepCountIs(60), providerOptions: { openai: { store: false } } };
    const answer = name === "ai-stream" ? streamText(request) : await generateText(request);
    assert.equal(await answer.text, "All read.");
    check(name, asked);
  }
});

test("@openai/agents", async () => {
  for (const [name, Model] of [["agents-chat", OpenAIChatCompletionsModel], ["agents-responses", OpenAIResponsesModel]]) {
    const [fetch, asked] = watched(), client = new OpenAI({ apiKey: "k", baseURL: `${base}/${name}/v1`, fetch });
    const read = agentTool({ name: "read", description: "reads a file", strict: true, parameters: schema, execute: ({ file }) => text(file) });
    const agent = new Agent({ name: "reader", instructions: "You read files.", model: new Model(client, "m"), tools: [read] });
    assert.equal((await run(agent, said(name), { maxTurns: 60 })).finalOutput, "All read.");
    check(name, asked);
  }
});

test("langchain", async () => {
  const [fetch, asked] = watched(), model = new ChatOpenAI({ model: "m", apiKey: "k", configuration: { baseURL: `${base}/langchain/v1`, fetch } });
  const read = chainTool(({ file }) => text(file), { name: "read", description: "reads a file", schema });
  const end = await createAgent({ model, tools: [read], systemPrompt: "You read files." }).invoke({ messages: [{ role: "user", content: said("langchain") }] }, { recursionLimit: 200 });
  assert.equal(end.messages.length, 2 * requests, "the state keeps every message");
  check("langchain", asked);
});

test("a request that fits keeps its bytes", async () => {
  const sent = [], raw = JSON.stringify({ model: "m", messages: [{ role: "user", content: said("bytes") }] }, null, 1);
  const plain = precisFetch({ onError: (e) => assert.fail(e), fetch: (url, init) => (String(url).includes("/precis/") ? fetch(url, init) : (sent.push(init.body), Promise.resolve(new Response("{}")))) });
  await plain("http://api/v1/messages", { method: "POST", body: raw });
  assert.equal(sent[0], raw);
});

test("a request that is no turn, and a precis that is away or refuses", async () => {
  await assert.rejects(new Engine().post("expand", { handle: "m0", conversation: "nobody" }), (e) => e instanceof PrecisError && e.code === "not_found");
  for (const options of [{ url: "http://127.0.0.1:1" }, { profile: "nobody's" }]) {
    const errors = [], sent = [], raw = JSON.stringify({ model: "m", messages: [{ role: "user", content: said("nobody") }] }, null, 1);
    const plain = precisFetch({ ...options, onError: (e) => errors.push(e), fetch: (url, init) => (String(url).includes("/precis/") ? fetch(url, init) : (sent.push([url, init]), Promise.resolve(new Response("{}")))) });
    const headers = { "X-Precis-Conversation": "away" };
    for (const request of [["http://api/v1/chat/completions", { method: "POST", body: raw, headers }], [new Request("http://api/v1/chat/completions", { method: "POST", body: raw, headers })]]) {
      await plain(...request);
      const [, init] = sent.pop();
      assert.equal(init.body, raw);
      assert.equal(init.headers.get("X-Precis-Conversation"), null);
    }
    assert.equal(errors.length, 2);
    for (const init of [undefined, { method: "POST", body: "no JSON" }, { method: "POST", body: '{"input":"a text"}' }, { method: "POST", body: new FormData() }]) {
      await plain("http://api/v1/responses", init);
      assert.equal(sent.pop()[1], init, "it is passed on as it is");
    }
    assert.equal(errors.length, 2);
  }
});
