import fc from 'fast-check';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { newDatabase } from '../support/durable.js';
import { cases } from '../support/fuzz.js';
import { live, stepsOf } from './control-life.js';
import { oneGateway } from './one-gateway.js';

describe('control through sends and races, drawn by chance', () => {
  for (const [name, config] of [
    ['memory', () => ({})],
    ['SQLite', () => ({ store: sqliteStore({ path: newDatabase() }) })],
  ] as const)
    it(`leaves nothing of the agent behind it, and each message once: ${name}`, async () => {
      const gateways = await oneGateway(config(), false);
      let number = 0;
      await fc.assert(
        fc.asyncProperty(stepsOf(10, false), (steps) => live(gateways, `s${++number}`, steps)),
        { numRuns: cases(6), endOnFailure: true },
      );
    });
});
