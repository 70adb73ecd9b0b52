import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { Api, type Event, EventReader, PrecisError, isLoopback, readAddress } from '../src/api';
import { makeSecret, readSecret, secretPath } from '../src/secret';
import { Stub, details, message, ok, refusal, until } from './stub';

async function stubbed(run: (stub: Stub, api: Api) => Promise<void>): Promise<void> {
  const stub = await Stub.begin();
  try {
    await run(stub, new Api(stub.address, async () => ({ key: 'k', local: 's' })));
  } finally {
    await stub.end();
  }
}

const fails = (code: string, more: object = {}) => (err: unknown) => {
  assert.ok(err instanceof PrecisError, String(err));
  assert.equal(err.code, code);
  for (const [name, value] of Object.entries(more)) {
    assert.deepEqual(err[name as keyof PrecisError], value);
  }
  return true;
};

test('addresses are read as people write them', () => {
  for (const [text, want] of [
    ['127.0.0.1:8377', 'http://127.0.0.1:8377'], ['http://localhost:9000/', 'http://localhost:9000'], ['https://precis.example.com/', 'https://precis.example.com'],
    ['http://127.0.0.1:8377/precis/?x=1#y', 'http://127.0.0.1:8377'], ['https://example.com/team/precis', 'https://example.com/team'], ['[::1]:8377', 'http://[::1]:8377'],
  ] as const) {
    assert.equal(readAddress(text), want);
  }
  for (const text of ['file:///etc/passwd', 'ftp://127.0.0.1', 'http://user:word@127.0.0.1', 'http://', '::', 'javascript://x']) {
    assert.throws(() => readAddress(text), fails('invalid'), text);
  }
});

test('only this machine is this machine', () => {
  for (const at of ['http://127.0.0.1:8377', 'http://localhost', 'https://[::1]:1', 'http://127.9.9.9']) {
    assert.equal(isLoopback(at), true, at);
  }
  for (const at of ['http://127.0.0.1.example.com', 'http://10.0.0.1', 'http://localhost.example.com', 'http://[::2]']) {
    assert.equal(isLoopback(at), false, at);
  }
});

test('requests have the path, the body and the headers that the API wants', () => stubbed(async (stub, api) => {
  stub.conversations.push(details('a/b'));
  await api.conversation('a/b');
  await api.condense('a/b', { from: 0, to: 3, force: true });
  await api.undo('a/b');
  await api.undo('a/b', ['e1']);
  await api.pin('a/b', ['m0']);
  assert.deepEqual(stub.asked.map((a) => [a.method, a.path, a.body]), [
    ['GET', '/conversations/a%2Fb', undefined], ['POST', '/conversations/a%2Fb/condense', { from: 0, to: 3, force: true }], ['POST', '/conversations/a%2Fb/undo', {}],
    ['POST', '/conversations/a%2Fb/undo', { edits: ['e1'] }], ['POST', '/conversations/a%2Fb/pin', { handles: ['m0'] }],
  ]);
  for (const { headers, method } of stub.asked) {
    assert.equal(headers['x-precis-key'], 'k');
    assert.equal(headers['x-precis-local'], 's');
    assert.equal(headers['content-type'], method === 'POST' ? 'application/json' : undefined);
  }
  assert.equal(api.page('a/b'), `${stub.address}/precis/c/a%2Fb`);
}));

test('messages come in pages', () => stubbed(async (stub, api) => {
  stub.answer = ({ path }) => ok(path.includes('cursor=2') ? { items: [message(2)] } : { items: [message(0), message(1)], next_cursor: '2' });
  assert.deepEqual((await api.messages('c1', 100)).map((m) => m.handle), ['m0', 'm1', 'm2']);
  assert.deepEqual(stub.asked.map((a) => a.path), ['/conversations/c1/messages?limit=500&from=-100', '/conversations/c1/messages?limit=500&from=-100&cursor=2']);
}));

test('errors have their code, hint and what would be lost', () => stubbed(async (stub, api) => {
  await assert.rejects(api.conversation('c0'), fails('not_found'));
  stub.answer = () => refusal(409, 'would_lose', 'refused', { hint: 'force', would_lose: { last_user_turn: 'm1' } });
  await assert.rejects(api.condense('c1', {}), fails('would_lose', { hint: 'force', wouldLose: { last_user_turn: 'm1' } }));
  stub.answer = () => ({ status: 403, body: { type: 'error', error: { type: 'permission_error', code: 'invalid', message: 'precis: no' } } });
  await assert.rejects(api.undo('c1'), fails('forbidden', { message: 'precis: no' }));
  stub.answer = () => ({ status: 200, body: '<html>' });
  await assert.rejects(api.conversation('c1'), fails('unreachable'));
  stub.answer = () => ({ status: 502, body: '{"error":"bad gateway"}' });
  await assert.rejects(api.conversation('c1'), fails('unreachable'));
}));

test('a redirect is not followed', () => stubbed(async (stub, api) => {
  const other = await Stub.begin();
  stub.answer = () => ({ status: 307, body: '', headers: { Location: `${other.address}/precis/api/v1/conversations?limit=1` } });
  await assert.rejects(api.conversations(1), fails('unreachable'));
  assert.equal(other.asked.length, 0);
  await other.end();
}));

test('nobody at the address is said so', async () => {
  const stub = await Stub.begin();
  const api = new Api(stub.address, async () => ({}));
  await stub.end();
  await assert.rejects(api.conversations(1), fails('unreachable', { message: `precis does not answer at ${api.address}` }));
});

test('a condensation can be canceled', () => stubbed(async (stub, api) => {
  const stop = new AbortController();
  stub.answer = () => {
    stop.abort(); // before anything is answered
    return undefined;
  };
  await assert.rejects(api.condense('c1', {}, stop.signal), fails('canceled'));
  assert.equal(stub.asked.length, 1);
}));

test('events are read wherever the stream is cut', () => {
  const text = ': listening\n\nid: 20\nevent: edits\ndata: {"type":"edits","conversation":"c1"}\n\nid: 21\r\nevent: settings\r\ndata: {"type":\r\ndata: "settings"}\r\n\r\nid: 22\nevent: turn\ndata: no json\n\nevent: end\ndata: {}\n\nid: 23\nevent: turn\ndata: {}\n\n';
  const want: Event[] = [{ id: '20', type: 'edits', conversation: 'c1' }, { id: '21', type: 'settings' }, { id: '22', type: 'turn' }];
  for (let size = 1; size < text.length; size++) {
    const got: Event[] = [];
    const reader = new EventReader((e) => got.push(e));
    let open = true;
    for (let i = 0; open && i < text.length; i += size) {
      open = reader.add(text.slice(i, i + size));
    }
    assert.deepEqual(got, want, `pieces of ${size}`);
    assert.equal(open, false);
  }
  assert.equal(new EventReader(() => {}).add('x'.repeat(5 << 20)), false);
});

test('a stream of events ends when it is told to, and when it is silent', () => stubbed(async (stub, api) => {
  const got: string[] = [];
  const stop = new AbortController();
  let opened = 0;
  const listening = api.events('7', stop.signal, () => opened++, (e) => got.push(e.type));
  await until(() => opened === 1, 'it is open');
  stub.publish(8, 'turn', { conversation: 'c1' });
  await until(() => got.length === 1, 'an event comes');
  assert.equal(stub.asked[0]!.headers['last-event-id'], '7');
  stop.abort();
  await assert.rejects(listening, fails('unreachable'));
  await until(() => stub.listening === 0, 'the connection is closed');
  await assert.rejects(api.events('', new AbortController().signal, () => {}, () => {}, 50), fails('unreachable'));
}));

test('the secret of precis is read where no other account can read it', async () => {
  const home = await mkdtemp(join(tmpdir(), 'precis-'));
  const path = secretPath({}, home);
  assert.equal(path, join(home, '.local', 'share', 'precis', 'local-secret'));
  assert.equal(secretPath({ XDG_DATA_HOME: '/d' }, home), join('/d', 'precis', 'local-secret'));
  assert.equal(await readSecret(path), '');
  const secret = 'A'.repeat(26);
  for (const [content, mode, want] of [[secret, 0o600, secret], [`${secret}\n`, 0o600, secret], [secret, 0o644, ''], [secret, 0o640, ''], ['abc\n', 0o600, ''], [`${secret}\nX: y`, 0o600, ''], ['A'.repeat(5000), 0o600, '']] as const) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    await chmod(path, mode);
    assert.equal(await readSecret(path), process.platform === 'win32' && mode !== 0o600 ? content.trim() : want);
  }
  const link = join(home, 'link');
  await writeFile(path, secret);
  await chmod(path, 0o600);
  await symlink(path, link);
  assert.equal(await readSecret(link), '');
  assert.equal(await makeSecret(path), secret, 'one that is there stays');
  await rm(join(home, '.local'), { recursive: true });
  const made = await Promise.all(Array.from({ length: 8 }, () => makeSecret(path)));
  assert.match(made[0]!, /^[0-9A-F]{32}$/);
  assert.deepEqual(new Set(made).size, 1, 'all get the same');
  assert.deepEqual(await readdir(dirname(path)), ['local-secret']);
  if (process.platform !== 'win32') {
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.equal((await stat(dirname(path))).mode & 0o777, 0o700);
  }
  await rm(home, { recursive: true });
});
