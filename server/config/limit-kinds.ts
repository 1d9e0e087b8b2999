import { column, FEATURE_LIMITS } from '../../shared/features.js';
import type { LimitKindName } from '../../shared/words.js';
import { MAX_DELAY_MS } from '../async/deadline.js';
import type { Limits } from './limits.js';

/** The numbers that a limit may have. */
export interface LimitKind {
  fits(value: number): boolean;
  /** The rest of a sentence about the limit, for who gave another number. */
  readonly rule: string;
}

const isEndless = (value: number): boolean => value === Number.POSITIVE_INFINITY;

/** Whole things that are counted, or bytes and characters. */
const whole = (least: 0 | 1): LimitKind => ({
  fits: (value) => isEndless(value) || (Number.isSafeInteger(value) && value >= least),
  rule: `must be a whole number, ${least} or more, or Infinity`,
});
const count = whole(1);
const bytes = whole(1);

/** A rate, also of less than one a second. */
const rate: LimitKind = { fits: (value) => value > 0, rule: 'must be a number above 0, or Infinity' };

/** A time that passes without a timer of its own. */
const age: LimitKind = rate;

/** A time that a timer waits. Infinity means that it never comes. */
const ms: LimitKind = {
  fits: (value) => isEndless(value) || (value > 0 && value <= MAX_DELAY_MS),
  rule: `must be a number above 0, up to ${MAX_DELAY_MS}, or Infinity`,
};
const msOrNone: LimitKind = {
  fits: (value) => value === 0 || ms.fits(value),
  rule: `must be a number, 0 or more, up to ${MAX_DELAY_MS}, or Infinity`,
};

/** A time after which something is done again and again. */
const interval: LimitKind = {
  fits: (value) => value > 0 && value <= MAX_DELAY_MS,
  rule: `must be a number above 0, up to ${MAX_DELAY_MS}`,
};

const within = (least: number, most: number): LimitKind => ({
  fits: (value) => value >= least && value <= most,
  rule: `must be a number from ${least} to ${most}`,
});

const NAMED: Readonly<Record<LimitKindName, LimitKind>> = {
  ...{ count, bytes, rate, age, ms, msOrNone, interval },
};

type Kinds<Group> = {
  readonly [Name in keyof Group]: Group[Name] extends number ? LimitKind : Kinds<Group[Name]>;
};

/** The kind of each limit. */
export const LIMIT_KINDS: Kinds<Limits> = {
  ...{ bodyBytes: bytes, conversationBytes: bytes, jsonDepth: count },
  ...{ connectionsPerAddress: count, requestsPerAddress: count },
  ...{
    backlog: {
      fits: (value) => Number.isSafeInteger(value) && value >= 1,
      rule: 'must be a whole number, 1 or more',
    },
  },
  ...{ connectionsPerUser: count, streamsPerUser: count, handshakes: count, sessionsPerUser: count },
  ...{ sendsPerSecond: rate, subscribesPerSecond: rate, invokesPerSecond: rate, readsPerSecond: rate },
  ...{ readsAtOnce: count, sharedPerUser: count, shareRatesMs: ms },
  ...{ sessionBytes: bytes, userBytes: bytes },
  shared: {
    ...{ connections: count, sessions: count, bytes, fileBytes: bytes },
    ...{ sendsPerSecond: rate, invokesPerSecond: rate, readsPerSecond: rate, uploadsPerSecond: rate },
  },
  tenant: {
    ...{ sendsPerSecond: rate, invokesPerSecond: rate, readsPerSecond: rate, connections: count },
    ...{ runsAtOnce: count, runsWaiting: count },
  },
  runsAtOnce: count,
  auditMs: {
    fits: (value) => value >= 0,
    rule: 'must be a number, 0 or more, or Infinity',
  },
  auditEntries: count,
  retention: { events: count, bytes, ageMs: age },
  ...{ revalidateMs: ms, queueLength: whole(0), importedMessages: count, clientToolsPerSend: count },
  ...{ titleLength: count, metadataBytes: bytes, noteLength: count, grantsPerSession: count },
  ...column(FEATURE_LIMITS, ({ kind }) => NAMED[kind]),
  ...{ pageBytes: bytes, unreadBytes: bytes, handshakeMs: ms, keepAliveMs: ms, heartbeatMs: interval },
  ...{ slowClientMs: age, streamMs: age, methodMs: ms, guardMs: ms, runMs: ms, waitMs: ms, parkMs: ms },
  ...{ answerSize: bytes, stepsSize: bytes, childRuns: count, childDepth: count },
  ...{
    disconnectGraceMs: msOrNone,
    lameDuckMs: msOrNone,
    drainMs: msOrNone,
    storeMs: msOrNone,
    loopDelayMs: msOrNone,
  },
  heapShare: {
    fits: (value) => isEndless(value) || (value > 0 && value <= 1),
    rule: 'must be a number above 0, up to 1, or Infinity',
  },
  gatherMs: within(0, 1000),
};
