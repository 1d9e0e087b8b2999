import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

// The application that every peer runs: the same events, the same method, the same check of a token.

/** Occurs once in each event and each answer, and nowhere else that a server writes. */
export const MARKER = '!';
/** Ends the answer of a call over a WebSocket. */
export const END = '#';

/** As long as real ones are: a short one can be cheaper to check. */
export const TOKEN = 'a-benchmark-token-of-forty-characters-00';
export const isAuthorized = (header: string | undefined): boolean => header === `Bearer ${TOKEN}`;

const PADDING = 'x'.repeat(33);

/** Microseconds of a clock that all processes of a machine share. */
export const nowMicros = (): number => Math.floor(Number(process.hrtime.bigint()) / 1000);

export interface Delta {
  readonly type: 'content_delta';
  /** 50 characters: 16 digits of the time when it was produced, the marker, padding. */
  readonly delta: string;
}

export const createDelta = (): Delta => ({
  type: 'content_delta',
  delta: String(nowMicros()).padStart(16, '0') + MARKER + PADDING,
});

/**
 * Answers a message: `turn:N` with N events, one in each turn of the event loop, `sync:N` with all of them in one turn, `paced:N:MS`
 * with one every MS milliseconds.
 */
export async function* reply(message: string): AsyncGenerator<Delta, void, undefined> {
  const [mode, count, ms] = message.split(':');
  for (let n = 0; n < Number(count); n++) {
    if (mode === 'turn') await nextTurn();
    else if (mode === 'paced') await sleep(Number(ms));
    yield createDelta();
  }
}

export const taskSchema = z.object({
  title: z.string().min(1),
  priority: z.number().int().min(0).max(9),
  tags: z.array(z.string()),
});

export const CALL = {
  method: 'tasks:create',
  params: { title: 'write the report', priority: 3, tags: ['a', 'b'] },
};

let tasks = 0;
export const createTask = ({ title }: { readonly title: string }) => ({
  id: ++tasks,
  title,
  done: MARKER + END,
});
