import { setTimeout as delay } from 'node:timers/promises';
import { defineApp } from '../../server/index.js';

/** The pieces of the answer to `long`. */
export const PIECES = 200;
export const app = defineApp({
  async *run(turn) {
    if (turn.text !== 'long') return yield `You said ${turn.text}`;
    for (let at = 0; at < PIECES; at++) {
      await delay(5, undefined, { signal: turn.signal });
      yield `${at} `;
    }
  },
});
