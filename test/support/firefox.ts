import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
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
    socket.on('close', () => {
      for (const answer of this.#waiting.values())
        answer({ type: 'error', error: 'closed', message: 'Firefox is gone' });
    });
    socket.on('error', () => {});
  }

  static async connect(url: string): Promise<Bidi> {
    const socket = new WebSocket(url, { maxPayload: 0 });
    await once(socket, 'open');
    return new Bidi(socket);
  }

  async ask(method: string, params: object): Promise<any> {
    if (this.#socket.readyState !== WebSocket.OPEN) throw new Error(`${method}: Firefox is gone`);
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

/** How long Firefox may take to start. One that hangs is no fault of what is tested, and is started again. */
const START_MS = 30_000;
const STARTS = 3;

async function launch(): Promise<Bidi> {
  const said: string[] = [];
  for (let start = 1; start <= STARTS; start++) {
    const { firefox, ready } = startFirefox();
    const bidi = await Promise.race([ready.catch(() => null), delay(START_MS, null, { ref: false })]);
    if (bidi) return bidi;
    said.push(firefox.output);
    firefox.child.kill('SIGKILL');
  }
  throw new Error(`Firefox did not start in ${STARTS} times ${START_MS} ms:\n${said.join('\n')}`);
}

/** Starts Firefox with a profile of its own; it is closed after the last test that uses it. */
function startFirefox(): { readonly firefox: Program; readonly ready: Promise<Bidi> } {
  const home = mkdtempSync(join(tmpdir(), 'gw-firefox-'));
  const firefox = new Program(
    spawn(FIREFOX, ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', home], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, HOME: home, MOZ_CRASHREPORTER_DISABLE: '1' },
    }),
  );
  let bidi: Bidi | undefined;
  closeAtLast(firefox, async () => {
    await bidi?.ask('browser.close', {}).catch(() => {});
    bidi?.close();
    await firefox.kill('SIGKILL');
    rmSync(home, { recursive: true, force: true });
  });
  const connect = async (): Promise<Bidi> => {
    const [address] = await firefox.prints(/ws:\/\/\S+(?=\s)/);
    bidi = await Bidi.connect(`${address}/session`);
    await bidi.ask('session.new', { capabilities: {} });
    await bidi.ask('session.subscribe', { events: ['log.entryAdded'] });
    return bidi;
  };
  return { firefox, ready: connect() };
}

let running: Promise<Bidi> | undefined;

/** What the tests of every browser do with a page. */
export interface TestPage {
  evaluate<T>(run: () => T | Promise<T>): Promise<T>;
  waitForFunction(holds: () => boolean): Promise<unknown>;
}

/** Opens a page in headless Firefox; it is closed after the test. An error on the page fails `problems`. */
export async function openFirefoxPage(
  url: string,
): Promise<{ readonly page: TestPage; readonly problems: string[] }> {
  running ??= launch();
  const bidi = await running;
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
