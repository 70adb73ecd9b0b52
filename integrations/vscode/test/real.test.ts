// The API client, the model and the extension against a precis that runs: the program that
// PRECIS_BINARY names serves the recording that PRECIS_RECORDING names.

import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type * as vscode from 'vscode';
import { Api, PrecisError } from '../src/api';
import { Extension } from '../src/extension';
import * as format from '../src/format';
import { makeSecret, readSecret, secretPath } from '../src/secret';
import { until } from './stub';
import { fake } from './vscode';

const binary = process.env['PRECIS_BINARY'] ?? '';
const recording = process.env['PRECIS_RECORDING'] ?? '';
const skip = binary !== '' && recording !== '' ? false : 'PRECIS_BINARY and PRECIS_RECORDING are not set';

/** A precis that serves the recording as one conversation. */
interface Served {
  process: ChildProcess;
  address: string;
  id: string;
}

let home: string;
let precis: Served;
let address: string;
let id: string;

async function serve(...args: string[]): Promise<Served> {
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home, XDG_STATE_HOME: home, LANG: 'C' };
  const started = spawn(binary, ['serve', '--listen', '127.0.0.1:0', '--store', 'memory', ...args], { cwd: home, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const line = await new Promise<string>((done) => createInterface(started.stderr!).once('line', done).once('close', () => done('nothing')));
  const at = /listens on (http:\S+)/.exec(line)?.[1] ?? assert.fail(`precis serve says ${line}`);
  const { stdout } = await promisify(execFile)(binary, ['view', '--json', '--window', '9000000', recording], { cwd: home, env, maxBuffer: 64 << 20 });
  const { view } = JSON.parse(stdout) as { view: { messages: unknown[] } };
  const res = await fetch(`${at}/precis/api/v1/assemble`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ conversation: 'recorded', model: 'claude-sonnet-4-5', window: 1_000_000, max_tokens: 8000, messages: view.messages }),
  });
  const made = (await res.json()) as { conversation?: { id: string } };
  return { process: started, address: at, id: made.conversation?.id ?? assert.fail(`assemble answers ${JSON.stringify(made)}`) };
}

async function end(one: Served): Promise<void> {
  const ended = new Promise((done) => one.process.once('exit', done));
  one.process.kill('SIGINT');
  await ended;
}

before(async () => {
  if (!skip) {
    home = await mkdtemp(join(tmpdir(), 'precis-'));
    precis = await serve();
    ({ address, id } = precis);
  }
});

after(async () => {
  if (!skip) {
    await end(precis);
    await rm(home, { recursive: true });
  }
});

const path = () => secretPath({ XDG_DATA_HOME: home });
const api = () => new Api(address, async () => ({ local: await readSecret(path()) }));
const fails = (code: string) => (err: unknown) => err instanceof PrecisError && err.code === code;

test('the types of the client are what precis answers', { skip }, async () => {
  const { items } = await api().conversations(50);
  assert.deepEqual(items.map((c) => c.id), [id]);
  assert.match(format.title(items[0]!), /^I want to add a counter/);
  const d = await api().conversation(id);
  assert.equal(d.context_window.tokens, 1_000_000);
  assert.equal(d.status.action, 'none');
  assert.ok(d.room.lasts! > 0 && d.room.turns > 0 && d.room.left > 0);
  assert.match(format.statusText(format.english, d, await api().settings('')), /^\d+ %, condenses in (over )?\d+(–\d+)? turns$/);
  const messages = await api().messages(id);
  assert.equal(messages.length, d.messages);
  assert.deepEqual(messages.map((m) => m.handle), messages.map((_, i) => `m${i}`));
  const newest = await api().messages(id, 7);
  assert.deepEqual(newest.map((m) => m.handle), messages.slice(-7).map((m) => m.handle));
  await assert.rejects(api().conversation('c0'), fails('not_found'));
  await assert.rejects(api().settings('no such profile'), fails('not_found'));
});

test('without the secret nothing is changed, and the file that is made is taken', { skip }, async () => {
  assert.equal(await readSecret(path()), '');
  await assert.rejects(api().pin(id, ['m0']), fails('forbidden'));
  assert.notEqual(await makeSecret(path()), '');
  await api().pin(id, ['m0']);
  assert.equal((await api().messages(id))[0]!.pinned, true);
});

test('each place where the list lets a range end is one for precis, too', { skip }, async () => {
  const messages = await api().messages(id);
  const from = 1; // m0 is pinned
  const all = format.ends(messages).filter((m) => Number(m.handle.slice(1)) > from);
  assert.ok(all.length > 20);
  const named = new Set(all.map((m) => m.handle));
  for (const m of messages.slice(from + 1, 40)) {
    const asked = api().preview(id, { from, to: Number(m.handle.slice(1)) + 1 });
    if (named.has(m.handle)) {
      await asked;
    } else {
      await assert.rejects(asked, (err) => err instanceof PrecisError && err.code === 'invalid' && err.hint !== '', m.handle);
    }
  }
});

test('what would lose something is refused until it is forced', { skip }, async () => {
  const cutting = await serve('--set', 'rungs=truncate');
  try {
    const other = new Api(cutting.address, async () => ({ local: await readSecret(path()) }));
    const what = { target_tokens: '1000' };
    const preview = await other.preview(cutting.id, what);
    assert.ok(format.goneLines(format.english, preview.would_lose!, 'en').length > 1);
    await assert.rejects(other.condense(cutting.id, what), (err) => {
      assert.ok(err instanceof PrecisError && err.code === 'would_lose', String(err));
      assert.deepEqual(err.wouldLose, preview.would_lose);
      return true;
    });
    assert.equal((await other.condense(cutting.id, { ...what, force: true })).changed, true);
  } finally {
    await end(cutting);
  }
});

test('the extension shows, condenses and takes back', { skip }, async () => {
  fake.reset();
  fake.settings.set('precis.address', address);
  process.env['XDG_DATA_HOME'] = home;
  const context = { secrets: { get: async () => undefined }, workspaceState: { get: () => undefined }, subscriptions: [] };
  const extension = new Extension(context as unknown as vscode.ExtensionContext);
  try {
    extension.begin();
    await until(() => !!fake.bar?.shown, 'the status bar shows something');
    assert.match(fake.items()[0]!.label, /^I want to add a coun…/);
    const shown = fake.bar!.text;
    await until(() => extension.model.listening, 'the stream of events is open');

    fake.press = ({ modal, buttons }) => (modal ? buttons.find((b) => b === 'Condense' || b === 'Choose a Target…') : undefined);
    fake.input = '40000';
    await fake.run('precis.condense', id);
    assert.match(fake.dialogs.at(-1)!.text, /^reduced from [\d,]+ to [\d,]+ tokens/);
    assert.match(fake.dialogs.at(-2)!.detail!, /[\d,]+ → [\d,]+ tokens, \d+ % → \d+ %\nreduced from[^]*of \d+ facts likely to be needed again its text holds \d+[^]*\n• m\d+-m\d+: [\d,]+ → [\d,]+ tokens/);
    assert.notEqual(fake.bar!.text, shown);
    const condensed = fake.bar!.text;

    const other = api(); // somebody else changes something: an event says so
    await other.undo(id);
    await until(() => fake.bar!.text !== condensed, 'the status bar hears of it');
    assert.equal(fake.bar!.text, shown);

    fake.pick = (items) => items.find((i) => i.label.startsWith('m65 ')) ?? assert.fail('m65 cannot be chosen');
    await other.undo(id, (await other.edits(id)).filter((e) => e.kind === 'pin' && e.in_force).map((e) => e.id));
    await fake.run('precis.condenseUpTo', id);
    assert.match(fake.dialogs.at(-1)!.text, /^m0-m65 is condensed: from [\d,]+ to [\d,]+ tokens$/);
    const messages = await other.messages(id);
    assert.deepEqual([...new Set(messages.slice(0, 66).map((m) => m.state))], ['hidden']);
    assert.equal(messages.slice(66).some((m) => m.state === 'hidden'), false);

    fake.press = ({ modal }) => (modal ? 'Undo' : undefined);
    await fake.run('precis.undo', id);
    assert.match(fake.dialogs.at(-1)!.text, /^Undone: [\d,]+ tokens/);
    assert.equal((await other.messages(id)).some((m) => m.state === 'hidden'), false);
    assert.equal(fake.bar!.text, shown);

    await fake.run('precis.openDashboard', id);
    assert.equal((await fetch(fake.opened[0]!)).status, 200);
  } finally {
    extension.dispose();
  }
});
