import fc from 'fast-check';
import { defineApp } from '../../server/index.js';

/** Streams as many deltas as its message says, with text that is cut in awkward places, and pauses after some of them. */
export const talker = defineApp({
  async *run(turn) {
    const [deltas = 1, pauseEvery = 1] = turn.text.split(' ').map(Number);
    for (let i = 0; i < deltas; i++) {
      yield `${i}:äö\n\r\u2028😀"\\ `;
      if (i % pauseEvery === 0) await new Promise(setImmediate);
    }
  },
});

/** Cuts of connections: in the head of the answer, in its first events, or anywhere later. */
export const cutsOf = (maxLength: number) =>
  fc.array(fc.oneof(fc.nat(700), fc.nat(2500), fc.nat(12_000)), { maxLength });

/** Messages for that app. */
export const sendsOf = (maxLength: number) =>
  fc.array(fc.record({ deltas: fc.nat(60), pauseEvery: fc.integer({ min: 1, max: 20 }) }), {
    minLength: 1,
    maxLength,
  });
