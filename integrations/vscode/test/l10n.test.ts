import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

const languages = ['zh-cn', 'ja', 'fr'];
const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>;
const holes = (text: string) => [...text.matchAll(/\{\d+\}/g)].map(String).sort().join();

test('every text is translated, with the same arguments', () => {
  const texts = new Set<string>();
  for (const name of readdirSync('src')) {
    for (const [, text] of readFileSync(`src/${name}`, 'utf8').matchAll(/\bt\(\s*'((?:[^'\\]|\\.)*)'/g)) {
      texts.add(text!);
    }
  }
  assert.ok(texts.size > 40, `${texts.size} texts are found`);
  for (const language of languages) {
    const bundle = read(`l10n/bundle.l10n.${language}.json`);
    assert.deepEqual(Object.keys(bundle).sort(), [...texts].sort(), language);
    for (const [text, translated] of Object.entries(bundle)) {
      assert.equal(holes(translated), holes(text), `${language}: ${text}`);
    }
  }
});

test('every text of the manifest is there in every language', () => {
  const used = [...readFileSync('package.json', 'utf8').matchAll(/"%([^%"]+)%"/g)].map(([, key]) => key!).sort();
  for (const name of ['package.nls.json', ...languages.map((l) => `package.nls.${l}.json`)]) {
    assert.deepEqual(Object.keys(read(name)).sort(), used, name);
  }
});
