// The secret by which programs of one account prove to a gateway without keys that they may
// change something: the file local-secret in the data folder of precis.

import { randomBytes } from 'node:crypto';
import { link, lstat, mkdir, open, readFile, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

const shortest = 20; // characters
const longest = 4096; // bytes

/** Returns the path of the file for a gateway that keeps its store in the default place. */
export function secretPath(env: NodeJS.ProcessEnv = process.env, home: string = homedir()): string {
  return join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'precis', 'local-secret');
}

/**
 * Reads the secret. It is "" where there is none, where another account could read it, and
 * where the file is no regular one.
 */
export async function readSecret(path: string): Promise<string> {
  try {
    const info = await lstat(path);
    if (!info.isFile() || info.size > longest || (process.platform !== 'win32' && (info.mode & 0o077) !== 0)) {
      return '';
    }
    const secret = (await readFile(path, 'utf8')).trim();
    return secret.length >= shortest && /^[!-~]+$/.test(secret) ? secret : '';
  } catch {
    return '';
  }
}

/**
 * Makes the secret where there is no file yet, as every program of precis does that is the
 * first to need it, and returns it. A file that is there stays. It is "" when that fails.
 */
export async function makeSecret(path: string): Promise<string> {
  const dir = dirname(path);
  const made = join(dir, `.local-secret.tmp-${randomBytes(8).toString('hex')}`);
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const file = await open(made, 'wx', 0o600);
    try {
      await file.writeFile(`${randomBytes(16).toString('hex').toUpperCase()}\n`);
    } finally {
      await file.close();
    }
    await link(made, path); // fails where another program was first
  } catch {
    // what is there, if anything, counts
  } finally {
    await rm(made, { force: true });
  }
  return readSecret(path);
}
