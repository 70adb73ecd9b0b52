// precis: each summary of opencode is precis's own, without a model call; or with MODEL the
// model's, to which what it lacks is added.
// Written by "precis install opencode", removed by "precis uninstall opencode".
// When anything goes wrong opencode writes its own summary, as without this file.
import { spawn } from "node:child_process";

const PRECIS = "PRECIS";
const MODEL = false;
const TIMEOUT = 6000; // ms; precis answers within five seconds

// ask runs "precis hook opencode …" and returns what it prints; "" when it fails.
function ask(args, input) {
  return new Promise((resolve) => {
    try {
      const child = spawn(PRECIS, ["hook", "opencode", ...args], { stdio: ["pipe", "pipe", "ignore"] });
      const timer = setTimeout(() => (child.kill("SIGKILL"), resolve("")), TIMEOUT);
      const end = (text) => (clearTimeout(timer), resolve(text));
      let out = "";
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (piece) => (out += piece));
      child.stdin.on("error", () => {});
      child.on("error", () => end(""));
      child.on("close", (code) => end(code === 0 ? out : ""));
      child.stdin.end(input);
    } catch {
      resolve("");
    }
  });
}

export const Precis = async ({ client }) => {
  const summaries = new Map(); // by session, while it is compacted
  const said = async (sessionID) => (await client.session.messages({ path: { id: sessionID } })).data;
  const written = new Set(); // sessions whose newest summary is precis's, or was looked at
  const message = MODEL ? "What the summary of the conversation lacked was added." : "The summary of the conversation is precis's, without a model call. Nothing is lost.";
  const show = async () => client.tui.showToast({ body: { title: "precis", message, variant: "info" } });
  return {
    "experimental.session.compacting": async ({ sessionID }, out) => {
      try {
        if (process.env.PRECIS_GATEWAY) return;
        if (MODEL) return void summaries.set(sessionID, await said(sessionID));
        const text = await ask(["digest", sessionID], JSON.stringify(await said(sessionID)));
        if (!text) return;
        summaries.set(sessionID, text);
        out.prompt = "Reply with the single word OK.";
      } catch {} // opencode's own summary then
    },
    // The model that would write the summary reads next to nothing.
    "experimental.chat.messages.transform": async (_, out) => {
      const last = out.messages?.at(-1);
      if (MODEL || !last || !summaries.has(last.info?.sessionID)) return;
      out.messages.splice(0, out.messages.length - 1);
      last.parts = [{ ...last.parts[0], type: "text", text: "." }];
    },
    "experimental.text.complete": async ({ sessionID }, out) => {
      if (!summaries.has(sessionID)) return;
      const held = summaries.get(sessionID);
      summaries.delete(sessionID);
      written.add(sessionID);
      try {
        out.text = MODEL ? (await ask(["gate", sessionID], JSON.stringify({ messages: held, summary: out.text }))) || out.text : held;
      } catch {} // the summary as it is
    },
    event: async ({ event }) => {
      const sessionID = event?.properties?.sessionID;
      if (/^session\.(error|idle|compacted)$/.test(event?.type)) summaries.delete(sessionID);
      if (event?.type === "session.compacted" && written.delete(sessionID)) void show().catch(() => {}); // where there is no screen
    },
  };
};
