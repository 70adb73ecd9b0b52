import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Api } from '../src/api';
import { Model } from '../src/model';
import { Stub, details, refusal, until } from './stub';

const fast = { settle: 10, first: 5, last: 40 };

async function modeled(run: (stub: Stub, model: Model, shown: () => number) => Promise<void>, choice?: string): Promise<void> {
  const stub = await Stub.begin();
  stub.conversations.push(details('c1'), details('c2'));
  let shown = 0;
  const model = new Model(new Api(stub.address, async () => ({})), choice, () => shown++, fast);
  try {
    await run(stub, model, () => shown);
  } finally {
    model.stop();
    await stub.end();
  }
}

test('the newest conversation is followed, or the chosen one', () => modeled(async (stub, model) => {
  assert.equal(model.state.known, false);
  await model.refresh();
  assert.equal(model.state.followed?.id, 'c1');
  assert.equal(model.state.settings?.warn, 70);
  assert.equal(model.state.more, false);
  await model.follow('c2');
  assert.equal(model.state.followed?.id, 'c2');
  await model.follow('gone');
  assert.equal(model.state.followed?.id, 'c1', 'the newest stands in for one that is gone');
  stub.conversations.length = 0;
  await model.refresh();
  assert.deepEqual(model.state, { known: true, conversations: [], more: false });
}));

test('the choice of an earlier time is kept', () => modeled(async (_, model) => {
  await model.refresh();
  assert.equal(model.state.followed?.id, 'c2');
}, 'c2'));

test('settings are those of the profile, and of the default one where it is unknown', () => modeled(async (stub, model) => {
  stub.conversations[0]!.profile = 'night';
  stub.answer = ({ path }) => (path === '/settings?profile=night' ? refusal(404, 'not_found', 'no such profile') : undefined);
  await model.refresh();
  await model.refresh();
  assert.deepEqual(stub.of('GET', '/settings').map((a) => a.path), ['/settings?profile=night', '/settings?profile=', '/settings?profile=night']);
  assert.equal(model.state.settings?.auto, true);
}));

test('many events lead to few refreshes', () => modeled(async (stub, model) => {
  model.start();
  model.start();
  await until(() => stub.listening === 1, 'it listens');
  const before = stub.of('GET', '/conversations?').length;
  stub.conversations.reverse();
  for (let i = 1; i <= 20; i++) {
    stub.publish(i, 'turn', { conversation: 'c2' });
  }
  await until(() => model.state.followed?.id === 'c2', 'it is refreshed');
  assert.ok(stub.of('GET', '/conversations?').length - before <= 3);
  const settings = stub.of('GET', '/settings').length;
  stub.settings.warn = 50;
  stub.publish(21, 'settings', {});
  await until(() => model.state.settings?.warn === 50, 'settings are read again');
  assert.equal(stub.of('GET', '/settings').length, settings + 1);
}));

test('a broken stream is opened again where it ended', () => modeled(async (stub, model) => {
  model.start();
  await until(() => stub.listening === 1, 'it listens');
  stub.publish(41, 'turn', { conversation: 'c1' });
  await until(() => stub.of('GET', '/conversations?').length > 1, 'it hears');
  stub.hangUp();
  await until(() => stub.of('GET', '/events').length === 2, 'it listens again');
  assert.equal(stub.of('GET', '/events')[1]!.headers['last-event-id'], '41');
}));

test('nothing is asked while the window has no focus', () => modeled(async (stub, model) => {
  model.start();
  await until(() => stub.listening === 1, 'it listens');
  stub.publish(1, 'turn', {});
  model.stop();
  await until(() => stub.listening === 0, 'the stream is closed');
  const { length } = stub.asked;
  await new Promise((done) => setTimeout(done, 100));
  assert.equal(stub.asked.length, length);
  assert.equal(model.running, false);
  model.start();
  await until(() => stub.listening === 1, 'it listens again');
}));

test('where nobody answers it asks less and less often', async () => {
  const stub = await Stub.begin();
  let failed = 0;
  const model = new Model(new Api(stub.address, async () => ({})), undefined, () => failed++, { settle: 10, first: 20, last: 1000 });
  const { port } = stub;
  await stub.end();
  model.start();
  await new Promise((done) => setTimeout(done, 500));
  assert.ok(failed >= 2 && failed <= 6, `${failed} attempts in half a second: after 20, 40, 80, 160 and 320 ms`);
  assert.equal(model.state.error?.code, 'unreachable');
  assert.deepEqual(model.state.conversations, []);
  const back = await Stub.begin(port);
  back.conversations.push(details('c1'));
  await until(() => model.state.error === undefined && model.state.followed?.id === 'c1', 'it is there again');
  model.stop();
  await back.end();
});

test('what one precis answers late is not shown of another', () => modeled(async (stub, model, shown) => {
  const other = await Stub.begin();
  other.conversations.push(details('other'));
  const asked = model.refresh();
  model.use(new Api(other.address, async () => ({})));
  await asked;
  assert.ok(shown() > 0);
  assert.notEqual(model.state.followed?.id, 'c1');
  await model.refresh();
  assert.equal(model.state.followed?.id, 'other');
  assert.equal(stub.of('GET', '/events').length, 0);
  await other.end();
}));
