import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { ClientSession } from '../../../client/index.js';
import { isGatewayError } from '../../../shared/errors.js';
import type { GatewayEvent } from '../../../shared/events.js';
import { textOf } from '../../../shared/messages.js';
import { deliveryFaults } from '../../../testing/index.js';
import { connectClient } from '../../support/client.js';
import { newDatabase } from '../../support/durable.js';
import { GatewayProcess } from '../../support/gateway-process.js';
import { tempDir } from '../../support/temp-dir.js';

/** A process that can be killed and started again at the same address. */
interface KilledProcess {
  readonly url: string;
  restart(): Promise<void>;
}

/** Steps of a run. */
export const STEPS = 12;
/** Runs for each kill. */
const RUNS_A_KILL = 2;
const AT_ONCE = 8;

const textFor = (asks: boolean): string =>
  Array.from({ length: STEPS }, (_, at) => `w${at + 1} ${asks && at === 2 ? 'yes ' : ''}`).join('');

/** Answers a question, again where the gateway died before it said whether it has the answer. */
async function answer(session: ClientSession, callId: string): Promise<void> {
  for (let tried = 0; ; tried++) {
    try {
      return void (await session.respond(callId, { output: 'yes' }));
    } catch (error) {
      if (!isGatewayError(error)) throw error;
      // The answer was taken before the gateway died.
      if (tried > 0 && (error.code === 'ALREADY_ANSWERED' || error.code === 'CALL_NOT_FOUND')) return;
      if (!error.retryable) throw error;
      await delay(50);
    }
  }
}

/**
 * Has runs made while processes are killed, and checks each.
 *
 * @param start Starts the app, which writes the key of each step that it does into the file
 */
export async function survives(
  kills: { readonly app: number; readonly gateway: number },
  start: (effects: string) => Promise<KilledProcess>,
): Promise<void> {
  const effects = join(tempDir(), 'effects');
  writeFileSync(effects, '');
  const app = await start(effects);
  const gateway = await GatewayProcess.start(
    'test/app-adapters/remote/killed-gateway.ts',
    newDatabase(),
    app.url,
  );
  const client = connectClient(gateway.url);
  const runs = Math.max(kills.app, kills.gateway) * RUNS_A_KILL;
  const faults: string[] = [];
  const killed = { app: 0, gateway: 0 };
  const isOver = (): boolean => killed.app >= kills.app && killed.gateway >= kills.gateway;
  let made = 0;
  const one = async (): Promise<void> => {
    while (made < runs || !isOver()) {
      made += 1;
      const name = `s${made}`;
      const asks = made % 2 === 0;
      const session = client.session(name);
      client.send(name, asks ? 'ask' : 'go', { idempotencyKey: name }).result.catch(() => {});
      const events: GatewayEvent[] = [];
      let failure: string | undefined;
      for await (const event of client.events(name, { from: 'earliest' })) {
        events.push(event);
        if (event.type === 'input_required')
          answer(session, event.callId).catch((error: unknown) => faults.push(`${name}: ${error}`));
        if (event.type === 'run_error') failure = event.message;
        if (event.type !== 'message_end') continue;
        if (textOf(event.message) !== textFor(asks))
          faults.push(`${name}: ${textOf(event.message)} (${failure ?? event.stopReason})`);
        break;
      }
      const log: GatewayEvent[] = [];
      for await (const event of client.events(name, { from: 'earliest' })) {
        log.push(event);
        if (event.type === 'message_end') break;
      }
      faults.push(...deliveryFaults({ log, readers: [events] }).map((fault) => `${name}: ${fault}`));
    }
  };
  const all = Promise.all(Array.from({ length: AT_ONCE }, one));
  const kill = async (what: 'app' | 'gateway', process: KilledProcess): Promise<void> => {
    while (killed[what] < kills[what]) {
      // A process that has only just begun has nothing to lose.
      for (const { size } = statSync(effects); statSync(effects).size === size; ) await delay(10);
      await delay(Math.random() * 150);
      await process.restart();
      killed[what] += 1;
    }
  };
  await Promise.all([kill('app', app), kill('gateway', gateway)]);
  await all;
  expect(faults).to.deep.equal([]);
  const done = readFileSync(effects, 'utf8').trim().split('\n');
  const distinct = new Set(done).size;
  expect(distinct).to.equal(made * STEPS);
  // A step that was under way is done again, under the same key.
  expect(done.length - distinct).to.be.at.most((killed.app + killed.gateway) * AT_ONCE);
  if (process.env.SHOW_KILLS)
    console.log({ made, ...killed, steps: distinct, again: done.length - distinct });
}
