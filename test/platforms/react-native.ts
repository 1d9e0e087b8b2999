/**
 * Runs a script with nothing but what React Native has, and prints what it reports: the language itself, timers, an `AbortController`
 * without reasons, a `URL` that cannot be set, a `fetch` that gives whole answers, and a `WebSocket`. No crypto, no streams, no page.
 */
export const HOST = `
import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import { WebSocket } from 'ws';

class AbortSignal {
  aborted = false;
  listeners = new Set();
  addEventListener(_type, listener) { this.listeners.add(listener); }
  removeEventListener(_type, listener) { this.listeners.delete(listener); }
}
class AbortController {
  signal = new AbortSignal();
  abort() {
    if (this.signal.aborted) return;
    this.signal.aborted = true;
    for (const listener of [...this.signal.listeners]) listener({ type: 'abort' });
  }
}
class URL {
  constructor(href) { this.href = href; }
  get protocol() { throw new Error('not implemented'); }
}
const wholeAnswers = async (url, { method, headers, body }) => {
  const answer = await fetch(url, { method, headers: [...headers], body });
  const text = await answer.text();
  return { ok: answer.ok, status: answer.status, url: answer.url, headers: answer.headers, text: async () => text, json: async () => JSON.parse(text) };
};
const globals = {
  navigator: { product: 'ReactNative' },
  setTimeout: (...args) => { const timer = setTimeout(...args); const id = Number(timer); return id; },
  clearTimeout, queueMicrotask, console, AbortController, AbortSignal, Headers, URL, WebSocket, fetch: wholeAnswers,
};
globals.global = globals.window = globals.self = globals;
globals.console = { log: (text) => process.stdout.write(text + '\\n', () => process.exit()) };
vm.runInNewContext(readFileSync(process.argv[2], 'utf8'), globals);
`;
