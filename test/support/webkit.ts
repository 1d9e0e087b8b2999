import { spawn } from 'node:child_process';
import type { TestPage } from './firefox.js';
import { freePort } from './free-port.js';
import { Program } from './program.js';
import { closeAtLast, closeLater } from './resources.js';

export const WEBKIT = process.env.WEBKIT_DRIVER ?? '/usr/bin/WebKitWebDriver';

/** Starts a screen that nobody sees, which the engine needs; it is closed after the last test that uses it. */
async function startScreen(): Promise<string> {
  // Its pointer rests in its middle, which is beside the windows: it hovers over nothing.
  const screen = new Program(
    spawn('Xvfb', ['-displayfd', '1', '-screen', '0', '4000x3000x24', '-nolisten', 'tcp'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  const [, number] = await screen.prints(/^(\d+)\n/);
  closeAtLast(screen, (it) => {
    shown = undefined;
    return it.kill('SIGKILL');
  });
  return `:${number}`;
}

let shown: Promise<string> | undefined;

/** The driver takes one session, so each page has a driver and a browser of its own. */
async function openSession(): Promise<(command: string, body: object) => Promise<any>> {
  shown ??= startScreen();
  const port = await freePort();
  const driver = closeLater(
    new Program(
      spawn(WEBKIT, [`--port=${port}`], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, DISPLAY: await shown },
        detached: true,
      }),
      true,
    ),
    (it) => it.kill('SIGKILL'),
  );
  const ask = async (method: string, path: string, body?: object) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    });
    const { value } = (await response.json()) as any;
    if (!response.ok) throw new Error(`${path}: ${value.error}: ${value.message}`);
    return value;
  };
  await listening(port, driver);
  const { sessionId } = await ask('POST', '/session', { capabilities: {} });
  closeLater(sessionId, () => ask('DELETE', `/session/${sessionId}`));
  // Only the time limit of the test counts.
  await ask('POST', `/session/${sessionId}/timeouts`, { script: null, pageLoad: 300_000 });
  return (command, body) => ask('POST', `/session/${sessionId}/${command}`, body);
}

/** The driver says nothing when it is ready. */
async function listening(port: number, driver: Program): Promise<void> {
  let isOver = false;
  void driver.exited.then(() => {
    isOver = true;
  });
  for (;;) {
    if (isOver) throw new Error(`the driver of WebKit has ended:\n${driver.output}`);
    if (await fetch(`http://127.0.0.1:${port}/status`).catch(() => undefined)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Opens a page in WebKitGTK; it is closed after the test. An error on the page, once that is loaded, fails `problems`. */
export async function openWebKitPage(
  url: string,
): Promise<{ readonly page: TestPage; readonly problems: string[] }> {
  const tell = await openSession();
  const problems: string[] = [];
  const evaluate = async (source: string) => {
    const { value, failure, told } = await tell('execute/async', {
      script: `const done = arguments[0];
        (async () => JSON.stringify((await (${source})()) ?? null))().then(
          (value) => ({ value }), (error) => ({ failure: String(error) })
        ).then((answer) => done({ ...answer, told: globalThis.toldProblems?.splice(0) ?? [] }));`,
      args: [],
    });
    problems.push(...told);
    if (failure) throw new Error(failure);
    return JSON.parse(value);
  };
  await tell('url', { url });
  await evaluate(`() => {
    globalThis.toldProblems = [];
    addEventListener('error', ({ message }) => message && toldProblems.push(message));
    addEventListener('unhandledrejection', ({ reason }) => toldProblems.push(String(reason)));
  }`);
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
