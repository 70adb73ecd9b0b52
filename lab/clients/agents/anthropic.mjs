// An agent over the Anthropic SDK: a loop with one tool that reads files.
import Anthropic from "@anthropic-ai/sdk";
import { readFile } from "node:fs/promises";

process.on("uncaughtException", (error) => {
  console.error(error.message);
  process.exit(1);
});

const client = new Anthropic({ baseURL: process.env.BASE_URL, apiKey: "sk-ant-test" });
const breakpoint = { type: "ephemeral" };
const tools = [{
  name: "read_file",
  description: "Reads a text file.",
  input_schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
}];

// The breakpoint moves on to the last block of the newest message.
function mark(messages) {
  for (const m of messages) for (const block of m.content) delete block.cache_control;
  messages.at(-1).content.at(-1).cache_control = breakpoint;
}

async function ask(messages) {
  mark(messages);
  const request = {
    model: process.env.MODEL,
    max_tokens: 8000,
    system: [{ type: "text", text: "You read files with the tool read_file.", cache_control: breakpoint }],
    thinking: { type: "enabled", budget_tokens: 2048 },
    tools,
    messages,
  };
  if (process.env.MODE === "stream") return client.messages.stream(request).finalMessage();
  return client.messages.create(request);
}

const messages = [{ role: "user", content: [{ type: "text", text: process.argv[2] }] }];
for (;;) {
  const answer = await ask(messages);
  messages.push({ role: "assistant", content: answer.content });
  const uses = answer.content.filter((block) => block.type === "tool_use");
  if (uses.length === 0) {
    console.log(answer.content.filter((block) => block.type === "text").map((block) => block.text).join("\n"));
    break;
  }
  const results = [];
  for (const use of uses) {
    results.push({ type: "tool_result", tool_use_id: use.id, content: await readFile(use.input.path, "utf8") });
  }
  messages.push({ role: "user", content: results });
}
