// precis: when the context is full, precis shortens it by entries of pi's own kind at the end of a turn, without a
// model call; "/precis-undo" takes the newest back. Where pi has no such entries, each summary is precis's own.
// Originals come back by the tool precis_show.
// Written by "precis install pi", removed by "precis uninstall pi".
// When anything goes wrong pi compacts by itself, as without this file.
import { spawn } from "node:child_process";

const PRECIS = "PRECIS";
const TIMEOUT = 6000; // ms; precis answers within five seconds

let hangs = false; // it is not asked again in this session

// ask runs precis and returns what it prints; "" when it fails.
function ask(args: string[], signal?: AbortSignal, input = ""): Promise<string> {
  return new Promise((resolve) => {
    if (hangs) return resolve("");
    try {
      const child = spawn(PRECIS, args, { stdio: ["pipe", "pipe", "ignore"] });
      const stop = () => (child.kill("SIGKILL"), end(""));
      const timer = setTimeout(() => ((hangs = true), stop()), TIMEOUT);
      const end = (text: string) => (clearTimeout(timer), signal?.removeEventListener("abort", stop), resolve(text));
      signal?.addEventListener("abort", stop);
      let out = "";
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (piece: string) => (out += piece));
      child.stdin.on("error", () => {});
      child.on("error", () => end(""));
      child.on("close", (code) => end(code === 0 ? out : ""));
      child.stdin.end(input);
    } catch {
      resolve("");
    }
  });
}

// guarded makes a handler that never fails: pi shows the user what a handler throws. What
// a handler needs of ctx it takes before it waits: pi may have ended the session meanwhile,
// and then all of ctx throws.
function guarded<T>(handler: (event: any, ctx: any) => Promise<T>): (event: any, ctx: any) => Promise<T | undefined> {
  return async (event, ctx) => {
    try {
      return await handler(event, ctx);
    } catch {
      return undefined;
    }
  };
}

export default function (pi: any) {
  if (process.env.PRECIS_GATEWAY) return; // a gateway does the work
  let undo = false; // a person has typed /precis-undo
  // due returns what precis is to shorten the context by, at the end of a turn; undefined while there is room.
  function due(ctx: any): any {
    const file = ctx.sessionManager.getSessionFile();
    const use = ctx.getContextUsage();
    const { enabled = true, reserveTokens = 16384 } = pi.getSettings?.().compaction ?? {}; // as pi itself decides
    const full = enabled && use?.tokens > use.contextWindow - reserveTokens;
    if (!file || !(full || undo)) return;
    const asked = undo ? { trigger: "manual", instructions: "undo" } : { trigger: "auto" };
    undo = false;
    return { session_id: file, transcript_path: file, leaf: ctx.sessionManager.getLeafId(), context: { tokens: use?.tokens ?? 0 }, ...asked };
  }
  pi.on("session_before_compact", guarded(async (event: any, ctx: any) => {
    const file = ctx.sessionManager.getSessionFile();
    const p = event.preparation;
    if (!file || !p?.firstKeptEntryId) return; // held in memory only
    const summary = await ask(["hook", "pi", "digest", "--before", p.firstKeptEntryId, file], event.signal);
    if (summary) return { compaction: { summary, firstKeptEntryId: p.firstKeptEntryId, tokensBefore: p.tokensBefore, details: { precis: 1 } } };
  }));
  pi.on("session_compact", guarded(async (_event: any, ctx: any) => {
    if (ctx.hasUI) ctx.ui.setStatus("precis", undefined); // until a request is answered nobody knows how full it is
  }));
  pi.on("turn_end", guarded(async (event: any, ctx: any) => {
    const view = event.entries && due(ctx); // older versions of pi have no such entries
    const { signal, sessionManager } = ctx;
    const ui = ctx.hasUI ? ctx.ui : undefined;
    const file = sessionManager.getSessionFile();
    const use = ctx.getContextUsage?.();
    const model = { id: ctx.model?.id };
    if (view) {
      let answer: any = {};
      try {
        answer = JSON.parse(await ask(["hook", "pi", "view"], signal, JSON.stringify(view))) ?? {};
      } catch {} // it does not answer
      ui?.notify(`precis: ${answer.said ?? answer.skip ?? "no answer; pi compacts by itself"}`, "info");
      if (answer.entries) {
        ui?.setStatus("precis", undefined);
        return { entries: [...event.entries, ...answer.entries] };
      }
    }
    if (!ui || !use?.tokens || !use.contextWindow) return;
    const spent = sessionManager.getEntries().reduce((sum: number, e: any) => sum + (e.message?.usage?.cost?.total ?? 0), 0);
    const input = {
      session_id: file, transcript_path: file, model, cost: { total_cost_usd: spent },
      context_window: { context_window_size: use.contextWindow, used_percentage: (100 * use.tokens) / use.contextWindow },
    };
    const line = file ? await ask(["statusline", "pi"], undefined, JSON.stringify(input)) : "";
    ui.setStatus("precis", line.trim() || `context ${Math.round((100 * use.tokens) / use.contextWindow)} %`);
  }));
  pi.registerCommand("precis-undo", {
    description: "Take the newest compaction of precis back, with the next answer",
    handler: async (_args: string, ctx: any) => {
      undo = true;
      ctx.ui.notify("precis: the newest compaction is taken back with the next answer", "info");
    },
  });
  pi.registerTool({
    name: "precis_show",
    label: "precis show",
    description: "Print messages of this session that a compaction has hidden, word for word, by their handles such as m12, m12-m14 or m12.b3.",
    parameters: { type: "object", properties: { handle: { type: "string", description: "e.g. m12" } }, required: ["handle"] },
    async execute(_id: string, params: any, signal: AbortSignal, _update: any, ctx: any) {
      let text = "";
      try {
        const file = ctx?.sessionManager?.getSessionFile?.();
        text = file ? await ask(["show", file, String(params.handle)], signal) : "";
      } catch {} // the session has ended
      return { content: [{ type: "text", text: text || "There is no such message." }], details: {} };
    },
  });
}
