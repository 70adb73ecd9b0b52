// A client of the control API of precis (docs/api.md of precis). It sends requests to one
// address and to no other: redirects are errors.

export const prefix = '/precis/api/v1';

/** How long a request that calls no model may take, in milliseconds. */
const patience = 10_000;

/** How long a condensation may take, in milliseconds: a model may write a summary. */
const longPatience = 10 * 60_000;

/** The part of ListedConversation that is shown. */
export interface Listed {
  id: string;
  title?: string;
  model?: string;
  client?: string;
  messages: number;
  tokens: number;
  window: number; // tokens
  percent: number; // of the window that the newest view uses
  updated: string;
  profile?: string;
}

export interface Status {
  tokens: number;
  window: number;
  percent: number;
  action: string; // none, warn, prepare, reduce or truncate
}

/** How far a view is from being reduced. */
export interface Room {
  limit: number;
  left: number; // tokens; 0: the limit is reached
  growth: number;
  turns: number; // that growth is the mean of
  lasts?: number; // turns until the limit; absent: unknown
}

export interface Details extends Listed {
  context_window: { tokens: number; source: string; detail?: string };
  status: Status;
  room: Room;
  condense_error?: string;
}

export interface Fact {
  handle: string;
  kind: string;
  text: string;
}

/** What a view would show in no form any more. */
export interface Gone {
  rules?: Fact[];
  of_rules?: number;
  last_user_turn?: string;
  hidden_share?: number; // 0 to 1
}

/** One edit of a run. */
export interface EditSummary {
  rung: string;
  reason: string;
  tokens_saved: number;
  likely?: number; // facts likely to be needed again that the gate looked for
  held?: number; // of them those that the summary holds by itself
  repaired?: number; // facts and rules that the gate added
}

/** What becomes of a span of messages. Tokens are as counted, not calibrated. */
export interface Change {
  handle: string;
  change: string; // unchanged, shortened or replaced
  tokens_before: number;
  tokens_after: number;
}

export interface Condensed {
  changed: boolean;
  report: {
    before: { tokens: number };
    after: { tokens: number };
    outcome: string;
    ended: string;
    edits: EditSummary[];
  };
  status: Status;
  notes?: string[];
  prices?: string[];
  diff?: Change[]; // of previews
  would_lose?: Gone;
}

export interface Message {
  handle: string;
  role: string;
  summary: string;
  tokens: number;
  state: string; // shown, shortened or hidden
  edit?: string;
  pinned: boolean;
  blocks: { type: string }[];
}

export interface Edit {
  id: string;
  name: string;
  run?: string;
  kind: string;
  in_force: boolean;
  report: { rung?: string; reason?: string; tokens_before?: number; tokens_after?: number };
}

export interface Settings {
  auto: boolean;
  observe?: boolean;
  warn?: number; // percent; 0: never
}

export interface CondenseRequest {
  target_tokens?: string;
  from?: number;
  to?: number; // exclusive
  force?: boolean;
}

export interface Event {
  id: string;
  type: string;
  conversation?: string;
}

/** What is sent to prove who asks. Either may be missing. */
export interface Credentials {
  key?: string; // X-Precis-Key
  local?: string; // X-Precis-Local
}

/** An answer of the API that is an error, or no answer. */
export class PrecisError extends Error {
  constructor(
    /** A code of the API; "unreachable" where nothing of precis answers. */
    readonly code: string,
    message: string,
    readonly hint = '',
    readonly wouldLose?: Gone,
  ) {
    super(message);
    this.name = 'PrecisError';
  }
}

/**
 * Reads an address that a user wrote. A missing scheme is http. The result has no slash at
 * its end, no query and no user name. It throws PrecisError "invalid".
 */
export function readAddress(text: string): string {
  let url: URL;
  try {
    url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  } catch {
    throw new PrecisError('invalid', `${JSON.stringify(text)} is no address`);
  }
  if ((url.protocol !== 'http:' && url.protocol !== 'https:') || url.username !== '' || url.password !== '') {
    throw new PrecisError('invalid', `${JSON.stringify(text)} is no http or https address`);
  }
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/precis$/, '');
}

/** Reports whether an address names this machine. */
export function isLoopback(address: string): boolean {
  const host = new URL(address).hostname;
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

export class Api {
  constructor(
    readonly address: string, // as readAddress returns it
    private readonly credentials: () => Promise<Credentials>,
  ) {}

  conversations(limit: number): Promise<{ items: Listed[]; next_cursor?: string }> {
    return this.get(`/conversations?limit=${limit}`);
  }

  conversation(id: string): Promise<Details> {
    return this.get(one(id));
  }

  settings(profile: string): Promise<Settings> {
    return this.get(`/settings?profile=${encodeURIComponent(profile)}`);
  }

  async edits(id: string): Promise<Edit[]> {
    return (await this.get<{ items: Edit[] }>(`${one(id)}/edits`)).items;
  }

  /** Returns all messages of a conversation, at most `most` of the newest. */
  async messages(id: string, most = 5000): Promise<Message[]> {
    const out: Message[] = [];
    let query = `from=${-most}`;
    for (;;) {
      const page = await this.get<{ items: Message[]; next_cursor?: string }>(`${one(id)}/messages?limit=500&${query}`);
      out.push(...page.items);
      if (!page.next_cursor || page.items.length === 0 || out.length >= most) {
        return out;
      }
      query = `from=${-most}&cursor=${encodeURIComponent(page.next_cursor)}`;
    }
  }

  preview(id: string, what: CondenseRequest, signal?: AbortSignal): Promise<Condensed> {
    return this.post(`${one(id)}/preview`, what, signal, longPatience);
  }

  condense(id: string, what: CondenseRequest, signal?: AbortSignal): Promise<Condensed> {
    return this.post(`${one(id)}/condense`, what, signal, longPatience);
  }

  undo(id: string, edits: string[] = []): Promise<{ status: Status }> {
    return this.post(`${one(id)}/undo`, edits.length > 0 ? { edits } : {});
  }

  pin(id: string, handles: string[]): Promise<{ status: Status }> {
    return this.post(`${one(id)}/pin`, { handles });
  }

  /** Returns the page of a conversation, or that of all. */
  page(id?: string): string {
    return `${this.address}/precis/${id === undefined ? '' : `c/${encodeURIComponent(id)}`}`;
  }

  /**
   * Listens to events until the stream ends, the signal is aborted, or nothing comes for
   * `silence` milliseconds; precis sends a sign of life every 15 seconds. `after` is the ID
   * of the last event that was seen. It throws where the stream cannot be opened or breaks.
   */
  async events(after: string, signal: AbortSignal, onOpen: () => void, onEvent: (event: Event) => void, silence = 45_000): Promise<void> {
    const quiet = new AbortController();
    const both = AbortSignal.any([signal, quiet.signal]);
    let timer = setTimeout(() => quiet.abort(), silence);
    try {
      const headers: Record<string, string> = { Accept: 'text/event-stream' };
      if (after !== '') {
        headers['Last-Event-ID'] = after;
      }
      const res = await this.send('GET', '/events', undefined, both, headers);
      if (!res.body || !(res.headers.get('content-type') ?? '').startsWith('text/event-stream')) {
        await res.body?.cancel();
        throw noPrecis(this.address);
      }
      onOpen();
      const reader = new EventReader(onEvent);
      const decoder = new TextDecoder();
      for await (const piece of res.body) {
        clearTimeout(timer);
        timer = setTimeout(() => quiet.abort(), silence);
        if (!reader.add(decoder.decode(piece as Uint8Array, { stream: true }))) {
          return;
        }
      }
    } catch (err) {
      throw this.readable(err);
    } finally {
      clearTimeout(timer);
      quiet.abort(); // closes the connection
    }
  }

  private get<T>(path: string): Promise<T> {
    return this.ask<T>('GET', path, undefined, undefined, patience);
  }

  private post<T>(path: string, body: unknown, signal?: AbortSignal, within = patience): Promise<T> {
    return this.ask<T>('POST', path, body, signal, within);
  }

  private async ask<T>(method: string, path: string, body: unknown, signal: AbortSignal | undefined, within: number): Promise<T> {
    const late = AbortSignal.timeout(within);
    try {
      const res = await this.send(method, path, body, signal ? AbortSignal.any([signal, late]) : late);
      return (await res.json()) as T;
    } catch (err) {
      if (signal?.aborted) {
        throw new PrecisError('canceled', 'canceled');
      }
      throw this.readable(err);
    }
  }

  /** Sends a request. It throws the error that precis answers. */
  private async send(method: string, path: string, body: unknown, signal: AbortSignal, headers: Record<string, string> = {}): Promise<Response> {
    const { key, local } = await this.credentials();
    if (key) {
      headers['X-Precis-Key'] = key;
    }
    if (local) {
      headers['X-Precis-Local'] = local;
    }
    const init: RequestInit = { method, headers, signal, redirect: 'error' };
    if (method === 'POST') {
      headers['Content-Type'] = 'application/json';
      init.body = JSON.stringify(body ?? {});
    }
    const res = await fetch(this.address + prefix + path, init);
    if (!res.ok) {
      throw refused(this.address, await res.text());
    }
    return res;
  }

  /** Returns err as a PrecisError. */
  private readable(err: unknown): PrecisError {
    return err instanceof PrecisError ? err : noPrecis(this.address);
  }
}

function one(id: string): string {
  return `/conversations/${encodeURIComponent(id)}`;
}

function noPrecis(address: string): PrecisError {
  return new PrecisError('unreachable', `precis does not answer at ${address}`);
}

/** Returns the error in the body of an answer. A body without one is not from precis. */
function refused(address: string, body: string): PrecisError {
  try {
    const { error } = JSON.parse(body) as { error?: { code?: string; message?: string; hint?: string; would_lose?: Gone; type?: string } };
    if (error && typeof error.message === 'string') {
      const code = error.type === 'permission_error' ? 'forbidden' : error.code;
      return new PrecisError(typeof code === 'string' ? code : 'internal', error.message, typeof error.hint === 'string' ? error.hint : '', error.would_lose);
    }
  } catch {
    // what answers there is another program
  }
  return noPrecis(address);
}

/** Reads server-sent events from pieces of text, wherever these are cut. */
export class EventReader {
  private rest = '';
  private id = '';
  private data: string[] = [];
  private type = '';

  constructor(private readonly onEvent: (event: Event) => void) {}

  /** Reads a piece. It is false once the server has ended the stream. */
  add(piece: string): boolean {
    const lines = (this.rest + piece).split('\n');
    this.rest = lines.pop() ?? '';
    if (this.rest.length > 4 << 20) {
      return false; // no event is that long
    }
    for (const line of lines) {
      if (!this.line(line.endsWith('\r') ? line.slice(0, -1) : line)) {
        return false;
      }
    }
    return true;
  }

  private line(line: string): boolean {
    if (line === '') {
      return this.dispatch();
    }
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'id') {
      this.id = value;
    } else if (name === 'event') {
      this.type = value;
    } else if (name === 'data') {
      this.data.push(value);
    }
    return true;
  }

  private dispatch(): boolean {
    const { type, data, id } = this;
    this.type = '';
    this.data = [];
    if (type === 'end') {
      return false;
    }
    if (data.length > 0) {
      let conversation: unknown;
      try {
        conversation = (JSON.parse(data.join('\n')) as { conversation?: unknown } | null)?.conversation;
      } catch {
        conversation = undefined;
      }
      this.onEvent(typeof conversation === 'string' ? { id, type, conversation } : { id, type });
    }
    return true;
  }
}
