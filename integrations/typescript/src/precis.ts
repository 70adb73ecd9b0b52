// precis for agents that call their model themselves: a request in, its view out.
//
//   const precis = new Engine();                                    // precis serve, or precis gateway
//   const view = await precis.view(request, "ticket-4711");
//   const answer = await client.messages.create(view);              // @anthropic-ai/sdk
//   const answer = await client.chat.completions.create(view);      // openai
//   const answer = await client.responses.create(view);             // openai
//
// When precis cannot be reached a request is sent as it is; Engine.error says why.

/** What precis refused: code is one of its error codes. */
export class PrecisError extends Error {
  constructor(readonly code: string, message: string, readonly hint = "") {
    super(message);
  }
}

/** The answer of assemble, as far as it is used here. */
export interface View {
  list: "messages" | "input";
  messages: unknown;
  set?: Record<string, unknown>;
  beta?: string;
  changed: boolean;
  acted: boolean;
  tokens_before: number;
  tokens_after: number;
  hidden: { handle: string; state: string; by: string }[];
  edits?: unknown[];
}

/** Fields of assemble that are not those of a model API. */
export interface Options {
  dialect?: "anthropic" | "chat" | "responses";
  window?: number;
  /** How far to come down: tokens from 1,000 on, a share under 1, or a text such as "20%" or "20k". */
  target?: number | string;
  /** Follow target or now although the view would lose something altogether. */
  force?: boolean;
  now?: boolean;
  focus?: string;
  profile?: string;
  summarizer?: "model" | "digest";
}

export class Engine {
  /** Why the newest view is the request itself; undefined: it is not. */
  error?: unknown;
  readonly url: string;

  constructor(
    url = process.env.PRECIS_URL || "http://127.0.0.1:8377",
    private readonly key = process.env.PRECIS_KEY,
    private readonly timeout = 30_000,
  ) {
    this.url = url.replace(/\/+$/, "");
  }

  /** Calls assemble, compact, gate, digest or expand and returns the answer. */
  async post<T>(verb: string, body: object): Promise<T> {
    const headers: Record<string, string> = { "Content-Type": "application/json", "User-Agent": "precis-typescript" };
    if (this.key) headers["X-Precis-Key"] = this.key;
    const res = await fetch(`${this.url}/precis/api/v1/${verb}`, {
      method: "POST", headers, body: JSON.stringify(body), signal: AbortSignal.timeout(this.timeout),
    });
    if (res.ok) return (await res.json()) as T;
    const failure = (await res.json().catch(() => ({}))) as { error?: { code?: string; message?: string; hint?: string } };
    throw new PrecisError(failure.error?.code ?? "internal", failure.error?.message ?? `status ${res.status}`, failure.error?.hint);
  }

  /** Returns the request with the messages to send in the place of its own. */
  async view<R extends object>(request: R, conversation?: string, options: Options = {}): Promise<R> {
    try {
      const v = await this.post<View>("assemble", { ...request, ...options, ...(conversation ? { conversation } : {}) });
      this.error = undefined;
      return { ...request, [v.list]: v.messages, ...v.set };
    } catch (error) {
      this.error = error;
      return request;
    }
  }

  /** Returns the text of a handle, and the offset to read on at, 0 at its end. */
  async expand(handle: string, conversation: string, offset = 0): Promise<{ text: string; next: number }> {
    const r = await this.post<{ text: string; next_offset?: number }>("expand", { handle, conversation, offset });
    return { text: r.text, next: r.next_offset ?? 0 };
  }
}
