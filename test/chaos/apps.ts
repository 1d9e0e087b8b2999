import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { defineApp, type Turn } from '../../server/index.js';
import type { AppCall } from './history.js';
import { askedBy, pieceOf, piecesOf, saidOf } from './script.js';

/** The apps of the gateways of a chaos test. What they say follows from the message, so that the checker knows it; every call is noted. */
export function chaosApps(node: string, callsFile: string) {
  const noted = (turn: Turn): void => {
    const call: AppCall = {
      node,
      sessionId: turn.session.id,
      runId: turn.runId,
      text: turn.text,
      resumed: turn.resumed !== null,
    };
    appendFileSync(callsFile, `${JSON.stringify(call)}\n`);
  };
  /** Says the pieces that have not been said yet. */
  async function* say(turn: Turn): AsyncGenerator<string> {
    const said = saidOf(turn.resumed?.content ?? []);
    for (let n = said.pieces; n < piecesOf(turn.text); n++) {
      await delay(2 + Math.random() * 16, undefined, { signal: turn.signal });
      yield pieceOf(turn.text, n);
    }
  }
  return {
    /** Ends as `lost` with its gateway. */
    talk: defineApp({
      async *run(turn) {
        noted(turn);
        yield* say(turn);
      },
    }),
    /** Goes on where its gateway was lost. */
    steady: defineApp({
      resumable: true,
      async *run(turn) {
        noted(turn);
        yield* say(turn);
      },
    }),
    /** Waits for a person, across gateways. */
    asks: defineApp({
      resumable: true,
      async *run(turn) {
        noted(turn);
        const payload = { of: turn.text };
        if (askedBy(turn.text) === 'question') {
          const answer = await turn.ask({ name: 'which', payload });
          if (saidOf(turn.resumed?.content ?? []).text === '') yield `heard ${String(answer)}`;
        } else {
          const { approved, reason } = await turn.confirm({ name: 'pay', input: payload });
          if (saidOf(turn.resumed?.content ?? []).text === '')
            yield `heard ${approved ? 'yes' : String(reason)}`;
        }
      },
    }),
  };
}
