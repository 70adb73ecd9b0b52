import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type * as vscode from 'vscode';
import manifest from '../package.json';
import { Extension } from '../src/extension';
import { makeSecret } from '../src/secret';
import { Stub, condensed, details, message, refusal, status, until } from './stub';
import { fake } from './vscode';

let stub: Stub;
let extension: Extension;
let home: string;
let secrets: Map<string, string>;
let workspaceState: Map<string, unknown>;

function begin(): void {
  const context = {
    secrets: { get: async (k: string) => secrets.get(k), store: async (k: string, v: string) => void secrets.set(k, v), delete: async (k: string) => void secrets.delete(k) },
    workspaceState: { get: (k: string) => workspaceState.get(k), update: async (k: string, v: unknown) => void workspaceState.set(k, v) },
    subscriptions: [],
  };
  extension = new Extension(context as unknown as vscode.ExtensionContext);
  extension.begin();
}

beforeEach(async () => {
  fake.reset();
  secrets = new Map();
  workspaceState = new Map();
  home = await mkdtemp(join(tmpdir(), 'precis-'));
  process.env['XDG_DATA_HOME'] = home;
  delete process.env['PRECIS_URL'];
  stub = await Stub.begin();
  stub.conversations.push(details('c1'), details('c2', { title: 'Other work', percent: 12, updated: new Date(Date.now() - 7200_000).toISOString() }));
  fake.settings.set('precis.address', stub.address);
});

afterEach(async () => {
  extension.dispose();
  await stub.end();
  await rm(home, { recursive: true });
});

async function begun(): Promise<void> {
  begin();
  await until(() => stub.listening === 1, 'it listens');
}

test('every command of the manifest is there, and no other', async () => {
  await begun();
  assert.deepEqual([...fake.commands.keys()].sort(), manifest.contributes.commands.map((c) => c.command).sort());
  for (const { command } of Object.values(manifest.contributes.menus).flat()) {
    assert.ok(fake.commands.has(command), command);
  }
  assert.ok(manifest.contributes.commands.every((c) => c.category === 'Precis'));
  assert.equal(manifest.contributes.configuration.properties['precis.address'].scope, 'machine', 'a folder must not choose who gets the secret');
});

test('the status bar and the tree show what precis knows', async () => {
  await begun();
  assert.equal(fake.bar!.text, '62 %, condenses in 4–8 turns');
  assert.equal(fake.bar!.shown, true);
  assert.equal(fake.bar!.backgroundColor, undefined);
  assert.match(fake.bar!.tooltip!, /claude-sonnet-4-5[^]*200,000 tokens \(catalog/);
  const [first, second] = fake.items();
  assert.equal(first!.label, 'Work of c1');
  assert.equal(first!.contextValue, 'conversation');
  assert.equal(second!.label, 'Other work');
  assert.equal(second!.description, '12 % · 2h ago');
  assert.equal(fake.tree!.message, undefined);
  assert.deepEqual([first!.iconPath!.id, second!.iconPath!.id], ['eye', 'comment-discussion']);

  stub.conversations[0]!.status = status(72, 'warn');
  stub.more = true;
  stub.publish(1, 'turn', { conversation: 'c1' });
  await until(() => fake.bar!.text.startsWith('72 %'), 'it is refreshed');
  assert.equal(fake.bar!.backgroundColor!.id, 'statusBarItem.warningBackground');
  const rest = fake.items()[2]!;
  assert.equal(rest.command!.command, 'precis.openDashboard');
  assert.equal(rest.contextValue, undefined);

  stub.conversations[0]!.status = status(0);
  stub.publish(2, 'turn', { conversation: 'c1' });
  await until(() => !fake.bar!.shown, 'the status bar is empty where nothing is known');
});

test('where no precis answers the tree says so, and nothing pops up', async () => {
  const { address } = stub;
  await stub.end();
  begin();
  await until(() => fake.tree!.message !== undefined, 'it says so');
  assert.equal(fake.tree!.message, `precis does not answer at ${address}. Start \`precis gateway\` or \`precis serve\`.`);
  assert.equal(fake.bar!.shown, false);
  assert.deepEqual(fake.items(), []);
  assert.equal(fake.dialogs.length, 0);
  await fake.run('precis.condense');
  assert.deepEqual(fake.dialogs.map((d) => [d.kind, d.modal]), [['error', false]]);
  assert.match(fake.dialogs[0]!.text, /does not answer at http[^]*precis gateway/);
});

test('without conversations the tree says so', async () => {
  stub.conversations.length = 0;
  await begun();
  assert.equal(fake.tree!.message, 'precis has no conversations yet.');
  assert.equal(fake.bar!.shown, false);
});

test('a window without the focus asks nothing', async () => {
  fake.focused = false;
  begin();
  await new Promise((done) => setTimeout(done, 50));
  assert.equal(stub.asked.length, 0);
  fake.focus(true);
  await until(() => stub.listening === 1, 'it listens');
  fake.focus(false);
  await until(() => stub.listening === 0, 'it does not listen');
});

test('condensing shows its effect first, and does nothing without a yes', async () => {
  await begun();
  const { command, arguments: args } = fake.bar!.command!;
  await fake.run(command, ...args);
  const [asked] = fake.dialogs;
  assert.equal(asked!.modal, true);
  assert.equal(asked!.text, 'Condense "Work of c1"?');
  assert.match(asked!.detail!, /124,000 → 61,500 tokens[^]*• m1-m28: 70,000 → 7,500 tokens/);
  assert.equal(stub.of('POST', '/conversations/c1/preview').length, 1);
  assert.equal(stub.of('POST', '/conversations/c1/condense').length, 0);

  fake.press = ({ modal }) => (modal ? 'Condense' : undefined);
  await fake.run(command, ...args);
  assert.deepEqual(stub.of('POST', '/conversations/c1/condense').map((a) => a.body), [{}]);
  assert.match(fake.dialogs.at(-1)!.text, /^reduced from 124,000 to 61,500/);
});

test('what would lose something is done by a second, explicit yes alone', async () => {
  const gone = { rules: [{ handle: 'm0', kind: 'rule', text: 'Never push.' }], last_user_turn: 'm36' };
  stub.answer = ({ path, body }) => {
    const forced = (body as { force?: boolean } | undefined)?.force;
    return path.endsWith('/condense') && !forced ? refusal(409, 'would_lose', 'the view would lose a rule', { would_lose: gone }) : undefined;
  };
  await begun();
  fake.press = ({ kind }) => (kind === 'information' ? 'Condense' : undefined);
  await fake.run('precis.condense', 'c1');
  const second = fake.dialogs[1]!;
  assert.deepEqual([second.kind, second.modal, second.buttons], ['warning', true, ['Do It All the Same']]);
  assert.match(second.detail!, /• m0: Never push\.\n• what you said last \(m36\)/);
  assert.deepEqual(stub.of('POST', '/conversations/c1/condense').map((a) => a.body), [{}], 'one yes is not enough');

  fake.press = ({ kind, modal }) => (!modal ? undefined : kind === 'information' ? 'Condense' : 'Do It All the Same');
  await fake.run('precis.condense', 'c1');
  assert.deepEqual(stub.of('POST', '/conversations/c1/condense').map((a) => a.body), [{}, {}, { force: true }]);
});

test('where nothing is to be condensed another target can be chosen', async () => {
  stub.answer = ({ path, body }) => (path.endsWith('/preview') && !(body as { target_tokens?: string }).target_tokens
    ? { status: 200, body: { ...condensed({ changed: false }), report: { ...condensed().report, outcome: 'left alone: within the target' } } } : undefined);
  await begun();
  fake.press = ({ buttons }) => buttons.find((b) => b === 'Choose a Target…' || b === 'Condense');
  fake.input = ' 20k ';
  await fake.run('precis.condense', 'c1');
  assert.equal(fake.dialogs[0]!.detail, 'left alone: within the target');
  assert.deepEqual(stub.of('POST', '/conversations/c1/condense').map((a) => a.body), [{ target_tokens: '20k' }]);
});

test('condensing up to a message asks for it', async () => {
  stub.messages = [message(0), message(1, { blocks: [{ type: 'tool_use' }] }), message(2, { blocks: [{ type: 'tool_result' }] }), message(3)];
  await begun();
  fake.pick = (items) => items.find((i) => i.label.startsWith('m2 '));
  fake.press = ({ modal }) => (modal ? 'Condense' : undefined);
  await fake.run('precis.condenseUpTo', { conversation: stub.conversations[1] });
  assert.deepEqual(fake.picks[0]!.map((i) => i.label), ['m3 message 3', 'm2 message 2', 'm0 message 0'], 'the newest first, and none between a call and its result');
  assert.deepEqual(stub.of('POST', '/conversations/c2').map((a) => [a.path, a.body]), [['/conversations/c2/preview', { from: 0, to: 3 }], ['/conversations/c2/condense', { from: 0, to: 3 }]]);
});

test('an error is shown with its hint, and its text makes no link', async () => {
  stub.answer = ({ path }) => (path.endsWith('/preview') ? refusal(400, 'invalid', 'condense m0-m19: [it](command:x)', { hint: 'condense m0-m20' }) : undefined);
  await begun();
  await fake.run('precis.condense', 'c1');
  assert.deepEqual(fake.dialogs, [{ kind: 'error', text: 'condense m0-m19: [it] (command:x); condense m0-m20', modal: false, buttons: [] }]);
});

test('an undo names what it takes back', async () => {
  stub.edits = [
    { id: 'i1', name: 'e1', run: 'r', kind: 'condensation', in_force: true, report: { reason: 'the oldest 118 messages became a digest' } },
    { id: 'i2', name: 'e2', run: 'p', kind: 'pin', in_force: true, report: {} },
  ];
  await begun();
  await fake.run('precis.undo', 'c1');
  assert.equal(stub.of('POST', '/conversations/c1/undo').length, 0);
  assert.match(fake.dialogs[0]!.detail!, /e1 condensation: the oldest 118 messages became a digest/);
  fake.press = ({ modal }) => (modal ? 'Undo' : undefined);
  await fake.run('precis.undo', 'c1');
  assert.deepEqual(stub.of('POST', '/conversations/c1/undo').map((a) => a.body), [{ edits: ['i1'] }]);
  assert.equal(fake.dialogs.at(-1)!.text, 'Undone: 124,000 tokens, 62 % of the window.');
  stub.edits = [];
  await fake.run('precis.undo', 'c1');
  assert.equal(fake.dialogs.at(-1)!.text, 'There is nothing to undo.');
});

test('a message is pinned', async () => {
  stub.messages = [message(0, { pinned: true }), message(1)];
  await begun();
  fake.pick = (items) => items[0];
  await fake.run('precis.pin', 'c1');
  assert.deepEqual(fake.picks[0]!.map((i) => i.label), ['m1 message 1']);
  assert.deepEqual(stub.of('POST', '/conversations/c1/pin').map((a) => a.body), [{ handles: ['m1'] }]);
});

test('the palette asks which conversation is meant, the one of the status bar first', async () => {
  workspaceState.set('precis.followed', 'c2');
  await begun();
  assert.match(fake.bar!.tooltip!, /^Other work/);
  await fake.run('precis.condense');
  assert.deepEqual(fake.picks[0]!.map((i) => i.label), ['Other work', 'Work of c1']);
  assert.equal(stub.of('POST', '/').length, 0);
  stub.conversations.pop();
  await fake.run('precis.condense');
  assert.equal(fake.picks.length, 1, 'of one there is nothing to choose');
  assert.equal(stub.of('POST', '/conversations/c1/preview').length, 1);
});

test('the status bar follows the conversation that was chosen in this workspace', async () => {
  await begun();
  await fake.run('precis.follow', { conversation: stub.conversations[1] });
  assert.match(fake.bar!.tooltip!, /^Other work/);
  assert.equal(workspaceState.get('precis.followed'), 'c2');
  await fake.run('precis.followNewest');
  assert.match(fake.bar!.tooltip!, /^Work of c1/);
  assert.equal(workspaceState.get('precis.followed'), undefined);
});

test('the dashboard opens at the conversation', async () => {
  await begun();
  await fake.run('precis.openDashboard', { conversation: stub.conversations[1] });
  await fake.run('precis.openDashboard');
  await fake.run('precis.openDashboard', {});
  assert.deepEqual(fake.opened, [`${stub.address}/precis/c/c2`, `${stub.address}/precis/`, `${stub.address}/precis/`]);
});

test('the secret of this account is sent, and made where it is missing', async () => {
  stub.messages = [message(0)];
  stub.answer = ({ method, headers }) => (method === 'POST' && !headers['x-precis-local'] ? { status: 403, body: { error: { type: 'permission_error', code: 'invalid', message: 'only programs of this account' } } } : undefined);
  await begun();
  fake.pick = (items) => items[0];
  await fake.run('precis.pin', 'c1');
  const secret = (await readFile(join(home, 'precis', 'local-secret'), 'utf8')).trim();
  assert.deepEqual(stub.of('POST', '/conversations/c1/pin').map((a) => a.headers['x-precis-local']), [undefined, secret]);
  assert.equal(stub.asked.some((a) => a.headers['x-precis-key'] !== undefined), false);
});

test('a secret that was set is kept apart for its address, and sent to no other', async () => {
  await begun();
  fake.input = ' k-1234 ';
  await fake.run('precis.setSecret');
  assert.equal(fake.inputs[0]!.password, true);
  await until(() => stub.asked.some((a) => a.headers['x-precis-key'] === 'k-1234'), 'it is sent');
  const other = await Stub.begin();
  fake.settings.set('precis.address', other.address);
  fake.configuration.fire({ affectsConfiguration: (section) => section === 'precis' });
  await until(() => other.listening === 1, 'it listens to the other one');
  assert.equal(other.asked.some((a) => a.headers['x-precis-key'] !== undefined), false);
  await other.end();
  fake.settings.set('precis.address', stub.address);
  fake.configuration.fire({ affectsConfiguration: () => true });
  fake.input = '';
  await fake.run('precis.setSecret');
  assert.equal(secrets.size, 0);
  fake.input = 'two words';
  await fake.run('precis.setSecret');
  assert.equal(secrets.size, 0);
});

test('the secret of this account is sent to no other machine', async (t) => {
  await makeSecret(join(home, 'precis', 'local-secret'));
  const sent: [string, string[]][] = [];
  const refusing: typeof fetch = async (to, init) => {
    sent.push([String(to), Object.keys(init?.headers ?? {})]);
    return new Response(JSON.stringify({ error: { type: 'permission_error', code: 'invalid', message: 'no' } }), { status: 403 });
  };
  t.mock.method(globalThis, 'fetch', refusing);
  fake.settings.set('precis.address', 'http://precis.example.com');
  begin();
  await until(() => fake.tree!.message !== undefined, 'it is refused');
  await fake.run('precis.pin', 'c1');
  assert.ok(sent.length > 0);
  for (const [to, headers] of sent) {
    assert.ok(to.startsWith('http://precis.example.com/precis/api/v1/'), to);
    assert.equal(headers.includes('X-Precis-Local'), false);
  }
});

test('a refusal says how to set the secret', async () => {
  stub.answer = () => ({ status: 401, body: { error: { type: 'permission_error', code: 'invalid', message: 'only callers with a gateway key' } } });
  begin();
  await until(() => fake.tree!.message !== undefined, 'it says so');
  assert.equal(fake.tree!.message, 'only callers with a gateway key; run the command "Precis: Set Secret"');
  assert.equal(fake.dialogs.length, 0);
});

test('the address is that of the settings, else of the environment', async () => {
  fake.settings.clear();
  process.env['PRECIS_URL'] = stub.address;
  await begun();
  assert.equal(fake.bar!.shown, true);
});

test('an address that is none is said once', async () => {
  fake.settings.set('precis.address', 'file:///x');
  fake.focused = false;
  begin();
  assert.deepEqual(fake.dialogs.map((d) => d.text), ['"file:///x" is no http or https address']);
});
