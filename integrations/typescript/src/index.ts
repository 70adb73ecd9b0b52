// A fetch that sends each request to a model as the view of its conversation, which fits the window:
//
//   new OpenAI({ fetch: precisFetch() })                     // openai, @openai/agents
//   new Anthropic({ fetch: precisFetch() })                  // @anthropic-ai/sdk
//   createOpenAI({ fetch: precisFetch() })                   // ai
//   new ChatOpenAI({ configuration: { fetch: precisFetch() } })  // langchain
//
// The program keeps its whole list of messages. precis serve, or precis gateway, keeps the edits.

/** An error of precis; code is one of its error codes. */
export class PrecisError extends Error {
  constructor(readonly code: string, message: string, readonly hint = "") {
    super(message);
  }
}

/** Fields of assemble, see docs/engine.md. */
export interface ViewOptions {
  /** Of the model, in tokens; absent: the one that precis knows. */
  window?: number;
  /** Size to reduce to: tokens from 1,000 on, a share below 1, or a text such as "20%" or "20k". */
  target?: number | string;
  focus?: string;
  profile?: string;
  summarizer?: "model" | "digest";
}

export interface EngineOptions {
  /** Absent: PRECIS_URL of the environment, else http://127.0.0.1:8377. */
  url?: string;
  /** A gateway key. Absent: PRECIS_KEY of the environment. */
  key?: string;
  /** Of one call to precis, in milliseconds; absent: 30,000. */
  timeout?: number;
  /** Sends the requests; absent: the global fetch. */
  fetch?: typeof fetch;
}

/** The engine at a URL. It has no state. */
export class Engine {
  readonly fetch: typeof fetch;

  constructor(private readonly options: EngineOptions = {}) {
    this.fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  }

  /** Calls assemble, compact, gate, digest or expand and returns the answer. It throws a PrecisError. */
  async post<T>(verb: string, body: object): Promise<T> {
    const env = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {};
    const { url = env.PRECIS_URL || "http://127.0.0.1:8377", key = env.PRECIS_KEY, timeout = 30_000 } = this.options;
    const res = await this.fetch(`${url.replace(/\/+$/, "")}/precis/api/v1/${verb}`, {
      method: "POST", body: JSON.stringify(body), signal: AbortSignal.timeout(timeout),
      headers: { "Content-Type": "application/json", ...(key ? { "X-Precis-Key": key } : {}) },
    });
    if (res.ok) return (await res.json()) as T;
    const { error } = (await res.json().catch(() => ({}))) as { error?: { code?: string; message?: string; hint?: string } };
    throw new PrecisError(error?.code ?? "internal", error?.message ?? `status ${res.status}`, error?.hint);
  }

  /** Returns the text of a handle, and the offset to continue at, 0 at its end. */
  async expand(handle: string, conversation: string, offset = 0): Promise<{ text: string; next: number }> {
    const r = await this.post<{ text: string; next_offset?: number }>("expand", { handle, conversation, offset });
    return { text: r.text, next: r.next_offset ?? 0 };
  }
}

export interface FetchOptions extends EngineOptions, ViewOptions {
  /**
   * Names the conversation of a request, which the header X-Precis-Conversation of that request
   * overrides. Absent: a hash of the system prompt and the first message.
   */
  conversation?: string | ((body: any) => string | undefined);
  /** Receives why a request was sent as it is. */
  onError?: (error: unknown) => void;
}

interface View {
  list: "messages" | "input";
  messages: unknown[];
  set?: object;
  beta?: string;
  changed: boolean;
  acted: boolean;
  tokens_after: number;
  counted?: object;
}

const header = "X-Precis-Conversation";
const refusals = [400, 413, 422]; // statuses of a request that is too long
const dialects = { messages: "anthropic", "chat/completions": "chat", responses: "responses" } as const;

/** Returns a name for the conversation that begins as a request does; equal names are no fault, since precis also compares the messages. */
function beginning(body: any, list: any[]): string {
  const first = list.findIndex((m) => m.role !== "system" && m.role !== "developer");
  const text = JSON.stringify([body.system, body.instructions, list.slice(0, first + 1)]);
  let hash = 0x811c9dc5; // FNV-1a
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return `begins ${(hash >>> 0).toString(16).padStart(8, "0")}`;
}

/** Calls heard with the usage of an answer whenever its body, which is passed on piece by piece, states one. */
function listen(res: Response, heard: (usage: any) => void): Response {
  if (!res.ok || !res.body?.pipeThrough) return res;
  const stream = res.headers.get("Content-Type")?.includes("event-stream"), decoder = new TextDecoder();
  let rest = "", usage = {};
  const read = (text: string) => {
    if (!text.includes('"usage"')) return;
    try {
      const event = JSON.parse(text.replace(/^data:/, ""));
      heard((usage = { ...usage, ...(event.usage ?? event.message?.usage ?? event.response?.usage) }));
    } catch {} // another protocol: there is nothing to learn
  };
  return new Response(res.body.pipeThrough(new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, out) {
      out.enqueue(piece);
      rest += decoder.decode(piece, { stream: true });
      if (!stream || !rest.includes("\n")) return;
      const lines = rest.split("\n");
      rest = lines.pop()!;
      lines.forEach(read);
    },
    flush: () => read(rest),
  })), res);
}

/** Returns a fetch for the client of a model. Requests that are no turn of a conversation, or that precis refuses, are sent as they are. */
export function precisFetch(options: FetchOptions = {}): typeof fetch {
  const { url, key, timeout, fetch: _, conversation, onError, ...fields } = options;
  const engine = new Engine(options);
  let reported: object | undefined; // the newest answer's, for the next request
  return async (input, init) => {
    const request = input instanceof Request ? input : undefined;
    const path = /\/(messages|chat\/completions|responses)\/?(?:[?#]|$)/.exec(request?.url ?? String(input));
    if (!path || (init?.method ?? request?.method)?.toUpperCase() !== "POST") return engine.fetch(input, init);
    const raw = init?.body ?? (await request?.clone().text());
    let body: any;
    try {
      body = JSON.parse(raw instanceof Uint8Array ? new TextDecoder().decode(raw) : (raw as string));
    } catch {} // no JSON: it is passed on
    const list = body?.messages ?? body?.input;
    if (!Array.isArray(list)) return engine.fetch(input, init);
    const headers = new Headers(init?.headers ?? request?.headers);
    const own = typeof conversation === "function" ? conversation(body) : conversation;
    const name = headers.get(header) ?? own ?? beginning(body, list);
    headers.delete(header);
    const server = new URL(path.input, "http://localhost").host, dialect = dialects[path[1] as keyof typeof dialects];
    const assemble = (reported?: object) =>
      engine.post<View>("assemble", { ...body, ...fields, dialect, conversation: name, server, reported }).catch(onError ?? (() => {}));
    const send = (view: View) => {
      const own = new Headers(headers);
      own.delete("Content-Length");
      if (view.beta) own.append("anthropic-beta", view.beta);
      const sent = view.changed ? JSON.stringify({ ...body, [view.list]: view.messages, ...view.set }) : raw;
      return engine.fetch(input, { ...init, body: sent, headers: own });
    };
    let view = await assemble(reported);
    if (!view) return engine.fetch(input, { ...init, body: raw, headers });
    reported = undefined;
    let res = await send(view);
    if (refusals.includes(res.status)) {
      const smaller = await assemble({ tokens: 0, ...view.counted, status: res.status, error: await res.clone().text() });
      if (smaller && (smaller.acted || smaller.tokens_after < view.tokens_after)) res = await send((view = smaller));
    }
    const { counted } = view;
    return listen(res, (usage) => {
      const cached = (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);
      const input = usage.prompt_tokens ?? usage.input_tokens + cached; // Anthropic's input excludes what is cached
      if (counted && input > 0) reported = { ...counted, input };
    });
  };
}
