import type { ChildProcess } from 'node:child_process';

/** Whether a program runs in a process group of its own, where the system has such groups. */
export const IS_GROUP = process.platform !== 'win32';

/** Signals a program that was started `detached`, and all that it has started. */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(IS_GROUP ? -pid : pid, signal);
  } catch {
    // It has ended.
  }
}
