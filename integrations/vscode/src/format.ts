// What is shown, as text. Nothing here knows the editor.

import type { Condensed, Details, Edit, Gone, Listed, Message, Settings } from './api';

/** Translates a text and puts arguments in the place of {0}, {1}, … */
export type Translate = (text: string, ...args: (string | number)[]) => string;

/** The text itself, in English. */
export const english: Translate = (text, ...args) => text.replace(/\{(\d+)\}/g, (all, n: string) => String(args[Number(n)] ?? all));

const longestLine = 200; // characters of a text of a conversation in one line
const mostListed = 8; // of one kind in a dialog

/**
 * Returns text of a conversation as one line without control, bidirectional and invisible
 * characters, cut at `most` characters. It is hostile: anybody may have written it.
 */
export function plain(text: string, most = longestLine): string {
  const line = text.slice(0, 8 * most).replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').replace(/[\p{Cf}\p{Co}\p{Cs}]/gu, '').trim();
  const letters = [...line];
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : line;
}

/** Returns text for a place in which the editor shows $(name) as an icon. */
export function withoutIcons(text: string): string {
  return text.replace(/\$\(/g, '\\$(');
}

/** Returns text for a notification, in which the editor reads [text](target) as a link. */
export function withoutLinks(text: string): string {
  return text.replace(/\]\(/g, '] (');
}

export function percent(value: number): string {
  return `${Math.round(value)} %`;
}

/** Returns a number with its thousands apart. */
export function grouped(n: number, lang = 'en'): string {
  return new Intl.NumberFormat(lang).format(n);
}

export function title(c: Listed): string {
  return plain(c.title ?? '', 80) || c.id;
}

/** Columns of a title in the tree: what follows it is to be seen in a narrow side bar. */
const treeColumns = 20;
const leastLetters = 12;

/** Letters that are as wide as two others. */
const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}\u3000-\u303f\uff00-\uff60]/u;

/** Returns the beginning of a title for the tree: at least 12 characters of any script. */
export function shortTitle(c: Listed): string {
  const letters = [...title(c)];
  let columns = 0;
  for (const [i, letter] of letters.entries()) {
    columns += wide.test(letter) ? 2 : 1;
    if (columns > treeColumns && i >= leastLetters) {
      return `${letters.slice(0, i).join('').trimEnd()}…`;
    }
  }
  return letters.join('');
}

/** Returns how long ago a time was, in one unit from minutes on. It is "" for a time that cannot be read. */
export function age(time: string, now: number, lang = 'en'): string {
  const then = Date.parse(time);
  if (Number.isNaN(then)) {
    return '';
  }
  const seconds = Math.max(0, (now - then) / 1000);
  const format = new Intl.RelativeTimeFormat(lang, { style: 'narrow', numeric: 'auto' });
  for (const [unit, size] of [['day', 86_400], ['hour', 3600], ['minute', 60]] as const) {
    if (seconds >= size) {
      return format.format(-Math.floor(seconds / size), unit);
    }
  }
  return format.format(0, 'second'); // "now"
}

/**
 * Returns the turns that a view lasts at least and at most. `lasts` is an estimate by the
 * mean of `turns` turns: a third less or more, and half or double while there are fewer
 * than three.
 */
export function range(lasts: number, turns: number): [least: number, most: number] {
  const few = turns < 3;
  const least = Math.max(1, Math.floor(few ? lasts / 2 : (lasts * 2) / 3));
  return [least, Math.max(least, Math.ceil(few ? lasts * 2 : (lasts * 4) / 3))];
}

/** Turns from which on the exact number says nothing. */
const manyTurns = 100;

/**
 * Returns when a conversation is condensed: "condenses in 4–8 turns". Where nothing is
 * condensed automatically it says when the window is full. "": nobody knows.
 */
export function outlook(t: Translate, d: Details, s: Settings | undefined): string {
  const condenses = !s || (s.auto && !s.observe);
  if (d.status.action === 'reduce' || d.status.action === 'truncate' || (d.room.limit > 0 && d.room.left === 0)) {
    return condenses ? t('condenses now') : t('full now');
  }
  if (d.room.lasts === undefined) {
    return '';
  }
  const [least, most] = range(d.room.lasts, d.room.turns);
  if (least >= manyTurns) {
    return condenses ? t('condenses in over {0} turns', manyTurns) : t('full in over {0} turns', manyTurns);
  }
  if (most === 1) {
    return condenses ? t('condenses in 1 turn') : t('full in 1 turn');
  }
  const turns = least === most ? String(most) : `${least}–${most}`;
  return condenses ? t('condenses in {0} turns', turns) : t('full in {0} turns', turns);
}

/** Reports whether the warn level of a conversation is reached. */
export function warns(d: Details, s: Settings | undefined): boolean {
  return d.status.action !== 'none' || (s?.warn !== undefined && s.warn > 0 && d.status.percent >= s.warn);
}

/** Returns the text of the status bar: "62 %, condenses in 4–8 turns". "": nothing is known. */
export function statusText(t: Translate, d: Details, s: Settings | undefined): string {
  if (d.status.window <= 0 || d.status.tokens <= 0) {
    return '';
  }
  return [percent(d.status.percent), outlook(t, d, s)].filter((part) => part !== '').join(', ');
}

/** Returns the lines of the tooltip of the status bar. */
export function statusTooltip(t: Translate, d: Details, lang: string): string {
  const w = d.context_window;
  const source = plain(w.detail ? `${w.source}: ${w.detail}` : w.source);
  const lines = [title(d)];
  if (d.model) {
    lines.push(t('Model: {0}', plain(d.model)));
  }
  lines.push(t('{0} of {1} tokens', grouped(d.status.tokens, lang), grouped(d.status.window, lang)));
  lines.push(t('Window: {0} tokens ({1})', grouped(w.tokens, lang), source));
  if (d.condense_error) {
    lines.push(t('The last condensation with a model failed: {0}', plain(d.condense_error)));
  }
  return lines.join('\n');
}

/** Returns the lines of a preview: tokens before and after, what goes and what stands for it. */
export function previewText(t: Translate, c: Condensed, lang: string): string {
  const { before, after, outcome, edits } = c.report;
  const lines = [t('{0} → {1} tokens', grouped(before.tokens, lang), grouped(after.tokens, lang)), plain(outcome)];
  if (c.status.window > 0) {
    lines[0] += `, ${percent((100 * before.tokens) / c.status.window)} → ${percent((100 * after.tokens) / c.status.window)}`;
  }
  for (const e of edits) {
    lines.push(`• ${plain(e.reason)}`);
    if (e.likely) {
      lines.push(e.repaired
        ? t('  of {0} facts likely to be needed again its text holds {1}, and the gate added others', e.likely, e.held ?? 0)
        : t('  of {0} facts likely to be needed again its text holds {1}', e.likely, e.held ?? 0));
    }
  }
  lines.push(...[...(c.prices ?? []), ...(c.notes ?? [])].map((line) => plain(line)));
  const gone = (c.diff ?? []).filter((d) => d.change !== 'unchanged');
  if (gone.length > 0) {
    const spans = gone.map((d) => `${plain(d.handle)}: ${t('{0} → {1} tokens', grouped(d.tokens_before, lang), grouped(d.tokens_after, lang))}`);
    lines.push('', t('No longer shown as it was said, and can be read again by its handle:'), ...listed(t, spans));
  }
  if (c.would_lose) {
    lines.push('', ...goneLines(t, c.would_lose, lang));
  }
  return lines.join('\n');
}

/** Returns what the model would see in no form any more. */
export function goneLines(t: Translate, g: Gone, lang: string): string[] {
  const lines = [t('In no form would the model see any more:'), ...listed(t, (g.rules ?? []).map((f) => `${plain(f.handle)}: ${plain(f.text, 120)}`))];
  if (g.last_user_turn) {
    lines.push(`• ${t('what you said last ({0})', plain(g.last_user_turn))}`);
  }
  if (g.hidden_share) {
    const share = new Intl.NumberFormat(lang, { style: 'percent' }).format(g.hidden_share);
    lines.push(`• ${t('{0} of what it sees now, with neither a summary nor a digest in its place', share)}`);
  }
  return lines;
}

function listed(t: Translate, all: string[]): string[] {
  const lines = all.slice(0, mostListed).map((one) => `• ${one}`);
  if (all.length > mostListed) {
    lines.push(t('… and {0} more', all.length - mostListed));
  }
  return lines;
}

/** Returns the lines that say what an undo takes back. */
export function undoText(t: Translate, run: Edit[], lang: string): string {
  return run.map((e) => {
    const { tokens_before: before, tokens_after: after, reason } = e.report;
    const sizes = before && after ? ` (${t('{0} → {1} tokens', grouped(before, lang), grouped(after, lang))})` : '';
    return `• ${plain(e.name)} ${plain(e.kind)}: ${plain(reason ?? '')}${sizes}`;
  }).join('\n');
}

/** Kinds of edits by which a run makes a view smaller. */
const reductions = new Set(['condensation', 'truncation', 'pruning', 'dedupe', 'media', 'shrink', 'clip', 'thinking']);

/**
 * Returns the edits in force of the newest run that made the view smaller. Pins and the like,
 * which a user made since, are not among them.
 */
export function newestRun(edits: Edit[]): Edit[] {
  const active = edits.filter((e) => e.in_force && e.kind !== 'undo');
  const last = [...active].reverse().find((e) => reductions.has(e.kind));
  return last ? active.filter((e) => e === last || (!!last.run && e.run === last.run)) : [];
}

/** A message as it is chosen from a list. */
export interface Choice {
  label: string;
  description: string;
  index: number; // of the message, counted from 0
  message: Message;
}

export function choices(t: Translate, messages: Message[], lang: string): Choice[] {
  return messages.map((message) => {
    const about = [message.role, t('{0} tokens', grouped(message.tokens, lang))];
    if (message.state === 'hidden') {
      about.push(t('hidden'));
    } else if (message.state === 'shortened') {
      about.push(t('shortened'));
    }
    if (message.pinned) {
      about.push(t('pinned'));
    }
    return { label: withoutIcons(`${message.handle} ${plain(message.summary, 56)}`), description: about.join(' · '), index: Number(message.handle.slice(1)), message };
  });
}

/**
 * Returns the messages behind which a range may end: not between a call and its result, and
 * not within messages that one edit hides as a whole.
 */
export function ends(messages: Message[]): Message[] {
  return messages.filter((m, i) => {
    const next = messages[i + 1];
    if (!next) {
      return true;
    }
    const has = (of: Message, type: string) => of.blocks.some((b) => b.type === type);
    const answered = has(next, 'tool_result') && (has(m, 'tool_use') || has(m, 'tool_result'));
    return !answered && !(m.state === 'hidden' && next.state === 'hidden' && m.edit !== undefined && m.edit === next.edit);
  });
}
