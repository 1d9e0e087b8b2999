import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import WebSocket from 'ws';
import { Program } from './program.js';
import { closeAtLast, closeLater } from './resources.js';

export const FIREFOX = process.env.FIREFOX ?? '/usr/bin/firefox-esr';

/** The commands of WebDriver BiDi over one socket, as Firefox itself speaks them: no driver in between. */
class Bidi {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: any) => void>();
  readonly listeners = new Set<(method: string, params: any) => void>();
  #last = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (text) => {
      const { id, method, params, ...answer } = JSON.parse(String(text));
      if (method) for (const listener of this.listeners) listener(method, params);
      else this.#waiting.get(id)?.(answer);
    });
  }

  static async connect(url: string): Promise<Bidi> {
    const socket = new WebSocket(url, { maxPayload: 0 });
    await once(socket, 'open');
    return new Bidi(socket);
  }

  get open(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  async ask(method: string, params: object): Promise<any> {
    if (!this.open) throw new Error(`${method}: Firefox is gone`);
    const id = ++this.#last;
    const answer = new Promise<any>((resolve) => this.#waiting.set(id, resolve));
    this.#socket.send(JSON.stringify({ id, method, params }));
    const { type, result, error, message } = await answer;
    if (type !== 'success') throw new Error(`${method}: ${error}: ${message}`);
    return result;
  }

  close(): void {
    this.#socket.terminate();
  }
}

/** Starts Firefox with a profile of its own; it is closed after the last test that uses it. */
async function launch(): Promise<Bidi> {
  const home = mkdtempSync(join(tmpdir(), 'gw-firefox-'));
  const firefox = new Program(
    spawn(FIREFOX, ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', home], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, HOME: home, MOZ_CRASHREPORTER_DISABLE: '1' },
    }),
  );
  const [address] = await firefox.prints(/ws:\/\/\S+(?=\s)/);
  const bidi = await Bidi.connect(`${address}/session`);
  closeAtLast(firefox, async () => {
    await bidi.ask('browser.close', {}).catch(() => firefox.kill('SIGKILL'));
    bidi.close();
    await firefox.exited;
    rmSync(home, { recursive: true, force: true });
  });
  await bidi.ask('session.new', { capabilities: {} });
  await bidi.ask('session.subscribe', { events: ['log.entryAdded'] });
  return bidi;
}

let running: Promise<Bidi> | undefined;

/** The browser that the tests of a file share. One that was closed after the last file of this process is started again. */
async function browser(): Promise<Bidi> {
  const known = await running?.catch(() => undefined);
  if (known?.open) return known;
  running = launch();
  return running;
}

/** What the tests of every browser do with a page. */
export interface TestPage {
  evaluate<T>(run: () => T | Promise<T>): Promise<T>;
  waitForFunction(holds: () => boolean): Promise<unknown>;
}

/** Opens a page in headless Firefox; it is closed after the test. An error on the page fails `problems`. */
export async function openFirefoxPage(
  url: string,
): Promise<{ readonly page: TestPage; readonly problems: string[] }> {
  const bidi = await browser();
  // Shares nothing with others.
  const { userContext } = await bidi.ask('browser.createUserContext', {});
  const { context } = await bidi.ask('browsingContext.create', { type: 'tab', userContext });
  const problems: string[] = [];
  const listen = (method: string, { source, type, text }: any) => {
    if (method === 'log.entryAdded' && source.context === context && type === 'javascript')
      problems.push(text);
  };
  bidi.listeners.add(listen);
  closeLater(bidi, async () => {
    bidi.listeners.delete(listen);
    await bidi.ask('browser.removeUserContext', { userContext });
  });
  await bidi.ask('browsingContext.navigate', { context, url, wait: 'complete' });
  const evaluate = async (source: string) => {
    const { result, exceptionDetails } = await bidi.ask('script.callFunction', {
      functionDeclaration: `async () => JSON.stringify((await (${source})()) ?? null)`,
      target: { context },
      awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.text);
    return JSON.parse(result.value);
  };
  return {
    page: {
      evaluate: (run) => evaluate(String(run)),
      waitForFunction: (holds) =>
        evaluate(
          `() => new Promise((done) => { const look = () => (${holds})() ? done() : setTimeout(look, 20); look(); })`,
        ),
    },
    problems,
  };
}
