// Bundles the extension into dist, or, called as "node build.mjs test", bundles the tests
// into out and runs them. In tests the module vscode is test/vscode.ts.
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const common = { absWorkingDir: here, bundle: true, platform: 'node', target: 'node20', format: 'cjs', logLevel: 'warning' };

if (process.argv[2] === 'test') {
  rmSync(join(here, 'out'), { recursive: true, force: true });
  const names = readdirSync(join(here, 'test')).filter((name) => name.endsWith('.test.ts'));
  await build({
    ...common, entryPoints: names.map((name) => join('test', name)), outdir: 'out', outExtension: { '.js': '.cjs' },
    sourcemap: 'inline', alias: { vscode: join(here, 'test', 'vscode.ts') },
  });
  const files = names.map((name) => join('out', name.replace(/\.ts$/, '.cjs')));
  const ran = spawnSync(process.execPath, ['--enable-source-maps', '--test', '--test-force-exit', '--test-timeout=60000', '--test-reporter=spec', ...files], { cwd: here, stdio: 'inherit' });
  process.exit(ran.status ?? 1);
}
rmSync(join(here, 'dist'), { recursive: true, force: true });
await build({ ...common, entryPoints: ['src/extension.ts'], outfile: 'dist/extension.js', external: ['vscode'], minify: true, legalComments: 'none' });
