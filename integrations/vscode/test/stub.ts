// A stand-in for the control API: it answers as docs/api.md says and notes what is asked.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Condensed, Details, Edit, Message } from '../src/api';

export interface Asked {
  method: string;
  path: string; // below the prefix, with its query
  headers: IncomingMessage['headers'];
  body: unknown;
}

export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

export class Stub {
  readonly asked: Asked[] = [];
  readonly conversations: Details[] = [];
  messages: Message[] = [];
  edits: Edit[] = [];
  more = false;
  settings = { auto: true, observe: false, warn: 70 };
  /** Answers before everything else; undefined: the usual answer. */
  answer: (asked: Asked) => Answer | undefined = () => undefined;
  private readonly streams = new Set<ServerResponse>();
  private constructor(private readonly server: Server) {}

  static async begin(port = 0): Promise<Stub> {
    const stub = new Stub(createServer((req, res) => void stub.serve(req, res)));
    await new Promise<void>((done) => stub.server.listen(port, '127.0.0.1', done));
    return stub;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get listening(): number {
    return this.streams.size;
  }

  async end(): Promise<void> {
    this.hangUp();
    this.server.closeAllConnections();
    await new Promise<void>((done) => this.server.close(() => done()));
  }

  /** Sends an event to everybody who listens. */
  publish(id: number, type: string, data: unknown): void {
    for (const res of this.streams) {
      res.write(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
    }
  }

  hangUp(): void {
    for (const res of this.streams) {
      res.destroy();
    }
  }

  /** Returns the requests with a method, and with a path that begins so. */
  of(method: string, path: string): Asked[] {
    return this.asked.filter((a) => a.method === method && a.path.startsWith(path));
  }

  private async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    let text = '';
    for await (const piece of req) {
      text += String(piece);
    }
    const url = req.url ?? '';
    const prefix = '/precis/api/v1';
    const asked: Asked = { method: req.method ?? '', path: url.startsWith(prefix) ? url.slice(prefix.length) : url, headers: req.headers, body: text === '' ? undefined : JSON.parse(text) };
    this.asked.push(asked);
    const given = this.answer(asked);
    if (!given && asked.path === '/events') {
      res.writeHead(200, { 'Content-Type': 'text/event-stream' });
      res.write(': listening\n\n');
      this.streams.add(res);
      res.on('close', () => this.streams.delete(res));
      return;
    }
    const { status, body, headers } = given ?? this.usual(asked);
    res.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    res.end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  private usual({ method, path }: Asked): Answer {
    const [, id, rest = ''] = /^\/conversations\/([^/?]+)([^?]*)/.exec(path) ?? [];
    if (path.startsWith('/conversations?')) {
      return ok({ items: this.conversations, ...(this.more ? { next_cursor: 'c' } : {}) });
    }
    if (path.startsWith('/settings')) {
      return ok(this.settings);
    }
    const one = this.conversations.find((c) => c.id === decodeURIComponent(id ?? ''));
    if (!one) {
      return refusal(404, 'not_found', `find conversation: there is no conversation "${id ?? ''}"`);
    }
    if (method === 'GET' && rest === '') {
      return ok(one);
    }
    if (method === 'GET' && rest === '/messages') {
      return ok({ items: this.messages, total: this.messages.length });
    }
    if (method === 'GET' && rest === '/edits') {
      return ok({ items: this.edits });
    }
    if (rest === '/preview' || rest === '/condense') {
      return ok(condensed());
    }
    if (rest === '/undo' || rest === '/pin') {
      return ok({ edit: {}, status: one.status });
    }
    return refusal(405, 'method_not_allowed', 'no');
  }
}

export const ok = (body: unknown): Answer => ({ status: 200, body });

export function refusal(status: number, code: string, message: string, more: object = {}): Answer {
  return { status, body: { error: { code, message, ...more } } };
}

export function condensed(more: Partial<Condensed> = {}): Condensed {
  return {
    changed: true,
    report: { before: { tokens: 124_000 }, after: { tokens: 61_500 }, outcome: 'reduced from 124,000 to 61,500 tokens by 1 edit', ended: 'reduced', edits: [{ rung: 'digest', reason: 'the oldest 28 messages became a digest', tokens_saved: 62_500, likely: 22, held: 19, repaired: 2 }] },
    diff: [{ handle: 'm0', change: 'unchanged', tokens_before: 10, tokens_after: 10 }, { handle: 'm1-m28', change: 'replaced', tokens_before: 70_000, tokens_after: 7_500 }],
    status: status(31),
    ...more,
  };
}

export const status = (percent: number, action = 'none') => ({ tokens: percent * 2000, window: 200_000, percent, action });

export function details(id: string, more: Partial<Details> = {}): Details {
  return {
    id, title: `Work of ${id}`, model: 'claude-sonnet-4-5', client: 'my-agent/1.0', messages: 37, tokens: 124_000, window: 200_000, percent: 62, updated: '2026-11-21T23:34:31Z',
    context_window: { tokens: 200_000, source: 'catalog', detail: 'claude-sonnet-4-5' }, status: status(62), room: { limit: 150_000, left: 26_000, growth: 4000, turns: 10, lasts: 6 },
    ...more,
  };
}

export function message(index: number, more: Partial<Message> = {}): Message {
  return { handle: `m${index}`, role: index % 2 ? 'assistant' : 'user', summary: `message ${index}`, tokens: 100, state: 'shown', pinned: false, blocks: [{ type: 'text' }], ...more };
}

/** Waits until something holds, five seconds at most. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  const end = Date.now() + 5000;
  while (!holds()) {
    if (Date.now() > end) {
      throw new Error(`it did not happen: ${what}`);
    }
    await new Promise((done) => setTimeout(done, 5));
  }
}
