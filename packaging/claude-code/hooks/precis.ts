// precis: each compaction of Claude Code is precis's own, without a model call; "/compact undo" takes the newest back.
// Written by "precis install claude-code", removed by "precis uninstall claude-code".
// When anything is in doubt Claude Code compacts by itself, as without this file.
const PRECIS = "precis";
const TIMEOUT = 16000; // ms; precis answers within fifteen seconds

// named is a row as precis needs it: what a call did and what it gave back is in the recording.
const named = (row: any) => ({
  role: row.role,
  text: row.text,
  toolUses: (row.toolUses ?? []).map((use: any) => ({ tool_use_id: use.tool_use_id })),
  toolResults: (row.toolResults ?? []).map((result: any) => ({ tool_use_id: result.tool_use_id, size: result.text?.length })),
});

// anew is a copy of a row that Claude Code takes for a new one.
const anew = (row: any) => ({ role: row.role, text: row.text, toolUses: row.toolUses ?? [], ...(row.toolResults?.length && { toolResults: row.toolResults }) });

let hangs = false; // precis did, once in this session

// compacted asks precis; undefined when Claude Code is to compact by itself.
async function compacted($: any, event: any): Promise<any> {
  if (event.agentId || hangs) return undefined;
  if (event.trigger === "precompute") return { skip: "precis compacts when it is due" };
  const info = await $.session.info();
  if (!info.transcriptPath || info.isHosted || info.isWorkspaceRemote) return undefined;
  const usage = await $.session.usage();
  const stdin = JSON.stringify({
    session_id: await $.session.id(), transcript_path: info.transcriptPath, trigger: event.trigger,
    instructions: event.instructions, context: usage.context, rows: event.messages.map(named),
  });
  hangs = true;
  const run = await $.process.run([PRECIS, "hook", "claude-code", "compact"], { stdin, timeoutMs: TIMEOUT });
  hangs = false;
  if (run.exitCode !== 0 || !run.stdout || run.isStdoutTruncated) return undefined;
  const answer = JSON.parse(run.stdout);
  if (answer.why) $.ui.log("Claude Code compacts by itself: " + answer.why + ".");
  if (answer.why) return undefined;
  if (answer.skip) return { skip: answer.skip };
  const messages = answer.rows.map((row: any) => (typeof row === "number" ? anew(event.messages[row]) : "keep" in row ? event.messages[row.keep] : row));
  setTimeout(() => $.ui.log(answer.said), 300); // a line above the boundary is gone when the screen is drawn anew
  return { messages };
}

export const register = (on: any) => {
  on("session.start", async ($: any, event: any, next: any) => {
    try {
      await $.process.run([PRECIS, "hook", "claude-code", "loaded"], { stdin: "{}", timeoutMs: 1000 });
    } catch {} // precis is gone
    return next(event);
  });
  on("session.compact", async ($: any, event: any, next: any) => {
    let answer: any;
    try {
      answer = await compacted($, event);
    } catch {} // precis is gone, or what came is not understood
    return answer ?? next(event);
  });
};
