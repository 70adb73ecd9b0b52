// An agent over the OpenAI SDK and the Responses API: a loop with one tool that
// reads files. Nothing is stored, so each request holds the whole input.
import OpenAI from "openai";
import { readFile } from "node:fs/promises";

process.on("uncaughtException", (error) => {
  console.error(error.message);
  process.exit(1);
});

const client = new OpenAI({ baseURL: process.env.BASE_URL, apiKey: "sk-test" });
const tools = [{
  type: "function",
  name: "read_file",
  description: "Reads a text file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"], additionalProperties: false },
  strict: true,
}];

const input = [{ role: "user", content: process.argv[2] }];
for (;;) {
  const stream = client.responses.stream({
    model: "gpt-5",
    instructions: "You read files with the tool read_file.",
    reasoning: { effort: "medium", summary: "auto" },
    include: ["reasoning.encrypted_content"],
    store: false,
    tools,
    input,
  });
  const answer = await stream.finalResponse();
  for (const item of answer.output) {
    delete item.parsed;
    delete item.parsed_arguments;
    if (item.type === "message") item.content.forEach((part) => delete part.parsed);
    input.push(item);
  }
  const calls = answer.output.filter((item) => item.type === "function_call");
  if (calls.length === 0) {
    console.log(answer.output_text ?? JSON.stringify(answer.output.at(-1)));
    break;
  }
  for (const call of calls) {
    const { path } = JSON.parse(call.arguments);
    input.push({ type: "function_call_output", call_id: call.call_id, output: await readFile(path, "utf8") });
  }
}
