// An agent over the OpenAI SDK and Chat Completions: a loop with one tool that
// reads files.
import OpenAI from "openai";
import { readFile } from "node:fs/promises";

process.on("uncaughtException", (error) => {
  console.error(error.message);
  process.exit(1);
});

const client = new OpenAI({ baseURL: process.env.BASE_URL, apiKey: "sk-test" });
const tools = [{
  type: "function",
  function: {
    name: "read_file",
    description: "Reads a text file.",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
}];

// The SDK puts the pieces together, but for fields that it does not know.
async function ask(messages) {
  const stream = client.chat.completions.stream({
    model: "test-1", tools, messages, stream_options: { include_usage: true },
  });
  let reasoning = "";
  stream.on("chunk", (chunk) => { reasoning += chunk.choices[0]?.delta?.reasoning_content ?? ""; });
  const { role, content, tool_calls } = (await stream.finalChatCompletion()).choices[0].message;
  const message = { role, content };
  if (tool_calls?.length) {
    message.tool_calls = tool_calls.map(({ id, type, function: f }) => ({ id, type, function: { name: f.name, arguments: f.arguments } }));
  }
  if (reasoning) message.reasoning_content = reasoning;
  return message;
}

const messages = [
  { role: "system", content: "You read files with the tool read_file." },
  { role: "user", content: process.argv[2] },
];
for (;;) {
  const message = await ask(messages);
  messages.push(message);
  if (!message.tool_calls) {
    console.log(message.content);
    break;
  }
  for (const call of message.tool_calls) {
    const { path } = JSON.parse(call.function.arguments);
    messages.push({ role: "tool", tool_call_id: call.id, content: await readFile(path, "utf8") });
  }
}
