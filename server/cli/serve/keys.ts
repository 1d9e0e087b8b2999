import { spawn } from 'node:child_process';
import type { Terminal } from '../terminal.js';

/** Actions by key. */
export type KeyActions = Readonly<Record<string, () => void>>;

/** Listens for keys on a terminal. Ctrl+C is `q`. Returns a function that stops this. */
export function onKeys({ input }: Terminal, keys: KeyActions): () => void {
  const press = (pressed: Buffer) => {
    for (const key of pressed.toString()) keys[key === '\u0003' ? 'q' : key]?.();
  };
  input.setRawMode(true).on('data', press).resume();
  return () => {
    input.off('data', press).setRawMode(false).pause();
  };
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Opens a URL in the browser that BROWSER names, else in the system's. @param failed Called if there is none. */
export function openBrowser(url: string, failed: () => void): void {
  const named = process.env.BROWSER ? [process.env.BROWSER] : undefined;
  const [command = 'xdg-open', ...args] = named ?? OPENERS[process.platform] ?? [];
  spawn(command, [...args, url], { stdio: 'ignore', detached: true })
    .on('error', failed)
    .unref();
}
