// precis: keeps each request inside the window; nothing is lost, and every change can be
// looked up in the recording.
// Written by "precis install cline", removed by "precis uninstall cline".
// When anything goes wrong the messages are sent as they are.
import { spawnSync } from "node:child_process";

const PRECIS = "PRECIS";
const TIMEOUT = 15000; // ms

let asked = ""; // Cline asks twice for one request
let answered = null;

// view returns the messages to send.
function view(messages) {
  const input = JSON.stringify({ messages });
  if (input === asked) return answered ?? messages;
  const run = spawnSync(PRECIS, ["hook", "cline", "view"], { input, timeout: TIMEOUT, maxBuffer: 1 << 28, encoding: "utf8" });
  asked = input;
  answered = null;
  if (run.status === 0 && run.stdout.trim()) {
    const list = JSON.parse(run.stdout);
    if (Array.isArray(list) && list.length) answered = list;
  }
  return answered ?? messages;
}

export default {
  name: "precis",
  manifest: { capabilities: ["messageBuilders"] },
  setup(api) {
    if (process.env.PRECIS_GATEWAY) return; // a gateway does the work
    api.registerMessageBuilder({
      name: "precis",
      build(messages) {
        try {
          return view(messages);
        } catch {
          return messages;
        }
      },
    });
  },
};
