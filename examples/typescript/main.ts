// Sends a request to a model as the view of its conversation; precis serve runs:
//
//   npm install precis-fetch openai && npx tsx main.ts <request.json
import { json } from "node:stream/consumers";
import OpenAI from "openai";
import { precisFetch } from "precis-fetch";

const client = new OpenAI({ fetch: precisFetch() });
const answer = await client.chat.completions.create((await json(process.stdin)) as OpenAI.ChatCompletionCreateParamsNonStreaming);
console.log(answer.choices[0]?.message.content);
