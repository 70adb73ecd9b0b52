// precis: keeps each request inside the window; nothing is lost, and every change can be
// looked up in the recording.
// Written by "precis install cline", removed by "precis uninstall cline".
// When anything goes wrong the messages are sent as they are.
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";

const PRECIS = "PRECIS";
const TIMEOUT = 6000; // ms; precis answers within five seconds

const session = randomUUID();
let model = ""; // that answered last
let hung = false; // precis did not answer in time: it is not asked again in this run

// view returns the messages to send.
function view(messages) {
  model = messages.findLast((m) => m.modelInfo?.id)?.modelInfo.id ?? model;
  const input = JSON.stringify({ session, model, messages });
  if (hung) return messages;
  const run = spawnSync(PRECIS, ["hook", "cline", "view"], { input, timeout: TIMEOUT, maxBuffer: 1 << 28, encoding: "utf8" });
  hung = run.error?.code === "ETIMEDOUT";
  if (run.status !== 0 || !run.stdout.trim()) return messages;
  const list = JSON.parse(run.stdout);
  return Array.isArray(list) && list.length ? list : messages;
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
