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

/** @param madeAt When it was produced, or was to be. */
export const createDelta = (madeAt = nowMicros(), padding = PADDING): Delta => ({
  type: 'content_delta',
  delta: String(madeAt).padStart(16, '0') + MARKER + padding,
});

/**
 * Answers a message: `turn:N` with N events, one in each turn of the event loop, `sync:N` with all of them in one turn, `paced:N:MS`
 * with one every MS milliseconds, `open:N:MS` the same as a model says them: when they are due, whether the ones before were taken or
 * not. Those carry the time when they were due, so that a server that falls behind cannot hide it.
 */
export function reply(message: string): AsyncGenerator<Delta, void, undefined> {
  const [mode, count, ms] = message.split(':');
  return mode === 'open'
    ? open({ count: Number(count), ms: Number(ms) })
    : closed(mode, Number(count), Number(ms));
}

/** The answers of `lanes:L:N:MS`: the pieces of `open:N:MS`, dealt to so many who say them by turns; none for another message. */
export function replies(message: string): readonly AsyncGenerator<Delta, void, undefined>[] {
  const [mode, lanes, count, ms] = message.split(':').map((part, i) => (i === 0 ? part : Number(part)));
  if (mode !== 'lanes') return [];
  const [many, pieces, every] = [lanes, count, ms] as [number, number, number];
  return Array.from({ length: many }, (_, n) =>
    open({ count: pieces / many, ms: every * many, after: every * n, ends: n === many - 1 }),
  );
}

async function* closed(
  mode: string | undefined,
  count: number,
  ms: number,
): AsyncGenerator<Delta, void, undefined> {
  for (let n = 0; n < count; n++) {
    if (mode === 'turn') await nextTurn();
    else if (mode === 'paced') await sleep(ms);
    yield createDelta();
  }
}

async function* open({ count, ms, after = 0, ends = true }: Pace): AsyncGenerator<Delta, void, undefined> {
  const began = nowMicros() + after * 1000;
  for (let n = 0; n < count; n++) {
    const due = began + n * ms * 1000;
    const wait = (due - nowMicros()) / 1000;
    if (wait > 0) await sleep(Math.ceil(wait));
    yield createDelta(due, ends && n === count - 1 ? END : PADDING);
  }
}

interface Pace {
  readonly count: number;
  readonly ms: number;
  /** Milliseconds until the first piece is due. */
  readonly after?: number;
  /** Whether its last piece is the last of its answer. */
  readonly ends?: boolean;
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
