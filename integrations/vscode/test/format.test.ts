import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as f from '../src/format';
import { condensed, details, message, status } from './stub';

const t = f.english;
const settings = { auto: true, observe: false, warn: 70 };
const room = (lasts: number | undefined, turns = 10, left = 26_000) => ({ limit: 150_000, left, growth: 4000, turns, ...(lasts === undefined ? {} : { lasts }) });

test('the status bar says how full the window is and when it is condensed', () => {
  const text = (d: Parameters<typeof details>[1], s = settings) => f.statusText(t, details('c1', d), s);
  assert.equal(text({}), '62 %, condenses in 4–8 turns');
  assert.equal(text({ room: room(0) }), '62 %, condenses in 1 turn');
  assert.equal(text({ room: room(1) }), '62 %, condenses in 1–2 turns');
  assert.equal(text({ room: room(6, 2) }), '62 %, condenses in 3–12 turns');
  assert.equal(text({ room: room(900) }), '62 %, condenses in over 100 turns');
  assert.equal(text({ room: room(undefined, 0) }), '62 %');
  assert.equal(text({ room: room(0, 10, 0) }), '62 %, condenses now');
  assert.equal(text({ status: status(76, 'reduce') }), '76 %, condenses now');
  assert.equal(text({ status: status(71, 'warn') }), '71 %, condenses in 4–8 turns');
  assert.equal(text({}, { ...settings, auto: false }), '62 %, full in 4–8 turns');
  assert.equal(text({ room: room(0, 10, 0) }, { ...settings, observe: true }), '62 %, full now');
  assert.equal(text({ status: { ...status(0), window: 0 } }), '');
  assert.equal(text({ status: status(0) }), '');
});

test('a range holds its estimate', () => {
  for (let lasts = 0; lasts < 200; lasts++) {
    for (const turns of [1, 2, 3, 10]) {
      const [least, most] = f.range(lasts, turns);
      assert.ok(least >= 1 && least <= Math.max(lasts, 1) && most >= lasts && most >= least, `${lasts} by ${turns}: ${least}–${most}`);
    }
  }
});

test('the warning color begins at the warn level', () => {
  const warns = (d: Parameters<typeof details>[1], warn = 70) => f.warns(details('c1', d), { ...settings, warn });
  assert.equal(warns({}), false);
  assert.equal(warns({ status: status(70) }), true);
  assert.equal(warns({ status: status(90) }, 0), false);
  assert.equal(warns({ status: status(50, 'warn') }), true);
  assert.equal(f.warns(details('c1', { status: status(80, 'reduce') }), undefined), true);
});

test('the tooltip has the model, the window and where its number is from', () => {
  assert.equal(f.statusTooltip(t, details('c1', { condense_error: 'condense_api_failed' }), 'en'),
    'Work of c1\nModel: claude-sonnet-4-5\n124,000 of 200,000 tokens\nWindow: 200,000 tokens (catalog: claude-sonnet-4-5)\nThe last condensation with a model failed: condense_api_failed');
});

test('ages have one unit', () => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  assert.equal(f.age('2026-11-21T11:59:50Z', now), 'now');
  assert.equal(f.age('2026-11-21T11:50:00Z', now), '10m ago');
  assert.equal(f.age('2026-11-21T01:50:00Z', now), '10h ago');
  assert.equal(f.age('2026-11-18T01:50:00Z', now), '3d ago');
  assert.equal(f.age('2026-11-21T12:00:09Z', now), 'now');
  assert.equal(f.age('yesterday', now), '');
  assert.equal(f.age('2026-11-21T11:59:50Z', now, 'ja'), '今');
  assert.match(f.age('2026-11-18T01:50:00Z', now, 'fr'), /^il y a 3\sj$|^-3\sj$/);
});

test('a title in the tree leaves room for what follows it', () => {
  const short = (title: string) => f.shortTitle(details('c1', { title }));
  assert.equal(short('Mend a nightly build'), 'Mend a nightly build');
  assert.equal(short('I want to add a counter for a vocabulary of our own'), 'I want to add a coun…');
  assert.equal(short('夜间构建为什么这么慢请找出原因并修复'), '夜间构建为什么这么慢请找…');
  assert.equal(short('“Why” — that…'), '“Why” — that…');
  assert.equal(short('é'.repeat(40)).length, 21);
});

test('text of a conversation cannot change what is around it', () => {
  assert.equal(f.plain('one\r\n two\u2028three\t\u0000\u001b[31mfour'), 'one two three [31mfour');
  assert.equal(f.plain('a\u202eb\u200bc\u2066d\ud800e'), 'abcde');
  assert.equal(f.plain('x'.repeat(10_000)).length, 200);
  assert.equal(f.plain('😀'.repeat(300), 10), `${'😀'.repeat(9)}…`);
  assert.equal(f.withoutIcons('run $(ls) $(trash)'), 'run \\$(ls) \\$(trash)');
  assert.equal(f.withoutLinks('see [this](command:x)'), 'see [this] (command:x)');
  assert.equal(f.title(details('c9', { title: ' \n ' })), 'c9');
});

test('a preview says the tokens, what is kept and what is lost', () => {
  const text = f.previewText(t, condensed({
    prices: ['claude-haiku-4-5: $0.02'], would_lose: { rules: [{ handle: 'm0', kind: 'rule', text: 'Never push.' }], of_rules: 2, last_user_turn: 'm36', hidden_share: 0.934 },
  }), 'en');
  assert.equal(text, [
    '124,000 → 61,500 tokens, 62 % → 31 %', 'reduced from 124,000 to 61,500 tokens by 1 edit', '• the oldest 28 messages became a digest',
    '  of 22 facts likely to be needed again its text holds 19, and the gate added others', 'claude-haiku-4-5: $0.02',
    '', 'No longer shown as it was said, and can be read again by its handle:', '• m1-m28: 70,000 → 7,500 tokens',
    '', 'In no form would the model see any more:', '• m0: Never push.', '• what you said last (m36)',
    '• 93% of what it sees now, with neither a summary nor a digest in its place',
  ].join('\n'));
  const many = Array.from({ length: 50 }, (_, i) => ({ handle: `m${i}`, kind: 'rule', text: 'rule' }));
  assert.match(f.goneLines(t, { rules: many }, 'en').at(-1)!, /… and 42 more/);
});

test('an undo takes back the newest run that made the view smaller', () => {
  const edit = (name: string, run: string, kind: string, in_force = true) => ({ id: `id-${name}`, name, run, kind, in_force, report: { reason: `why ${name}`, tokens_before: 9000, tokens_after: 4000 } });
  const edits = [edit('e1', 'r1', 'condensation'), edit('e2', 'r2', 'dedupe'), edit('e3', 'r2', 'restore'), edit('e4', 'r2', 'condensation'), edit('e5', 'r3', 'pruning', false), edit('e6', 'r4', 'undo'), edit('e7', 'r5', 'pin')];
  const run = f.newestRun(edits);
  assert.deepEqual(run.map((e) => e.name), ['e2', 'e3', 'e4']);
  assert.equal(f.undoText(t, run.slice(2), 'en'), '• e4 condensation: why e4 (9,000 → 4,000 tokens)');
  assert.deepEqual(f.newestRun([edit('e1', 'r1', 'pin'), edit('e2', 'r2', 'rewind')]), []);
  const { run: _, ...without } = edit('e1', '', 'clip');
  assert.deepEqual(f.newestRun([without, { ...without, id: 'id-e2', name: 'e2' }]).map((e) => e.name), ['e2']);
});

test('messages are chosen by handle and summary', () => {
  const [one] = f.choices(t, [message(3, { summary: 'ran $(ls)\nfiles', state: 'hidden', pinned: true, tokens: 1234 })], 'en');
  assert.equal(one!.label, 'm3 ran \\$(ls) files');
  assert.equal(one!.description, 'assistant · 1,234 tokens · hidden · pinned');
  assert.equal(one!.index, 3);
});

test('a range ends neither within a call and its results nor within hidden messages', () => {
  const call = { blocks: [{ type: 'text' }, { type: 'tool_use' }] };
  const result = { blocks: [{ type: 'tool_result' }] };
  const messages = [
    message(0, { state: 'hidden', edit: 'a' }), message(1, { state: 'hidden', edit: 'a' }), message(2, { state: 'hidden', edit: 'b' }),
    message(3, call), message(4, result), message(5, result), message(6), message(7, call),
  ];
  assert.deepEqual(f.ends(messages).map((m) => m.handle), ['m1', 'm2', 'm5', 'm6', 'm7']);
});
