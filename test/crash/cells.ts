import { join } from 'node:path';
import { createGateway, type Gateway, type GatewayConfig } from '../../server/index.js';
import { type Answered, GOOD_TOKEN, openDoors } from './doors.js';
import { HOSTILE_VALUES } from './hostile-values.js';
import { hostile } from './places.js';

/** What a group of cells came to. */
export interface Outcome {
  cells: number;
  readonly failures: string[];
}

export const UNBOUNDED = {
  connectionsPerUser: 1e9,
  streamsPerUser: 1e9,
  sessionsPerUser: 1e9,
  sendsPerSecond: 1e9,
  invokesPerSecond: 1e9,
  subscribesPerSecond: 1e9,
  drainMs: 100,
};

/** What escaped from the running cell: with nobody to catch it, it would have ended the process. */
const escaped: string[] = [];
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (reason: unknown) => {
    let text = 'a value that cannot be shown';
    try {
      text = reason instanceof Error ? `${reason.message} ${reason.stack?.split('\n')[1]}` : String(reason);
    } catch {}
    escaped.push(`${event}: ${text}`);
  });
}

/** Lets all that a cell has begun come to its end. */
async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise(setImmediate);
}

/** Runs one cell: it must come to an end, say what is right, and let nothing escape. */
export async function runCell(
  outcome: Outcome,
  name: string,
  cell: () => Promise<string | null>,
): Promise<void> {
  outcome.cells += 1;
  let timer: NodeJS.Timeout | undefined;
  const hung = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('no answer'), 60_000);
  });
  const problem = await Promise.race([
    cell().catch((error: unknown) => `the test's own: ${(error as Error)?.stack}`),
    hung,
  ]);
  clearTimeout(timer);
  await settle();
  if (problem) outcome.failures.push(`${name}: ${problem}`);
  for (const text of escaped.splice(0)) outcome.failures.push(`${name}: ${text}`);
}

/** Every value, one after the other. */
export async function forEachValue(run: (name: string) => Promise<void>): Promise<void> {
  for (const [name, make] of Object.entries(HOSTILE_VALUES)) {
    hostile.make = make;
    await run(name);
  }
  hostile.make = () => undefined;
}

/** A code is all that a caller is promised of an error. */
export function wrongAnswer(answered: Answered): string | null {
  if (answered.ok || (typeof answered.code === 'string' && answered.code !== '')) return null;
  return `an answer without a code: ${JSON.stringify(answered)}`;
}

/** A gateway with every door open, by the default logger. */
export async function openGateway(
  directory: string,
  config: GatewayConfig<any, any, any>,
): Promise<{ gateway: Gateway<any, any, any>; url: string; socketPath: string }> {
  const socketPath = join(directory, 'g.sock');
  const validate = (token: string | undefined) =>
    token === GOOD_TOKEN ? { valid: true, user: { id: 'u' } } : { valid: false };
  const gateway = createGateway({
    port: 0,
    socketPath,
    auth: { type: 'custom', validate },
    limits: UNBOUNDED,
    ...config,
  });
  const { url } = await gateway.start();
  return { gateway, url: url!, socketPath };
}

/** Each door, opened before the cells and used for all of them: a connection that a cell cuts is a failure of the next. */
export async function eachDoor(
  at: { gateway: Gateway<any, any, any>; url: string; socketPath: string },
  run: (name: string, door: Awaited<ReturnType<(typeof openDoors)[string]>>) => Promise<void>,
): Promise<void> {
  for (const [name, open] of Object.entries(openDoors)) await run(name, await open(at.gateway, at));
}
