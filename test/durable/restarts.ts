import { defineApp } from '../../server/index.js';
import { gate } from '../support/gate.js';
import { TOKEN } from '../support/gateway.js';
import { openStream, type RawStream } from '../support/sse-client.js';

export const respondAsync = { prefer: 'respond-async' };

/** Says `one `, waits for the gate, and goes on; notes who asked. */
export function heldApp(options: { resumable?: boolean } = {}) {
  const held = gate();
  const users: unknown[] = [];
  const app = defineApp({
    ...options,
    async *run(turn) {
      users.push(turn.user);
      yield 'one ';
      await held.passed;
      yield turn.text;
    },
  });
  return { app, held, users };
}

export function read(url: string, sessionId = 'main', from = 'earliest'): Promise<RawStream> {
  return openStream(`${url}/events?sessionId=${sessionId}&from=${from}&token=${TOKEN}`);
}

export const ends = (stream: RawStream): unknown[] =>
  stream.logged
    .filter(({ event }) => event === 'message_end')
    .map(({ data }) => [data.runId, data.stopReason]);
export const isEnd = ({ event }: { event: string }): boolean => event === 'message_end';
