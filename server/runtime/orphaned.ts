import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const LOOK_MS = 500;
const SHELL = /^-?(?:ba|da|z|k|a)?sh$/;
/** Most shells that are looked through, in case scripts start scripts. */
const DEEPEST = 8;

/**
 * Calls back once when the starter of this process has ended. npm runs scripts in a shell. On a signal to npm, that shell dies without
 * passing the signal on; if npm is killed, the shell stays and waits for this process.
 */
export function onOrphaned(ended: () => void): void {
  const parent = process.ppid;
  const others = startersAbove(parent);
  const looking = setInterval(() => {
    if (process.ppid === parent && others.every(isThere)) return;
    clearInterval(looking);
    ended();
  }, LOOK_MS).unref();
}

/** The processes above a shell, up to the first that is not one, which ran the script. */
function startersAbove(pid: number): readonly number[] {
  const starters: number[] = [];
  for (let at = lookUp(pid); at && SHELL.test(at.name) && starters.length < DEEPEST; at = lookUp(at.parent)) {
    starters.push(at.parent);
  }
  return starters;
}

/** Name and parent of a process; undefined if the system does not tell. */
function lookUp(pid: number): { readonly name: string; readonly parent: number } | undefined {
  try {
    const [, name, parent] = /\((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))!;
    return { name: name!, parent: Number(parent) };
  } catch {
    // Not Linux. Slim systems have no `ps`.
  }
  try {
    const said = execFileSync('ps', ['-o', 'ppid=', '-o', 'comm=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [, parent, name] = /^\s*(\d+)\s+(?:.*\/)?(\S+)/.exec(said)!;
    return { name: name!, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
