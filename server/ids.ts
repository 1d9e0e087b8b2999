import { createHash, randomFillSync } from 'node:crypto';
import { composeId } from '../shared/composed-id.js';
import { cut } from '../shared/cut.js';
import { fieldError } from '../shared/errors.js';
import { idProblem } from '../shared/ids.js';

const POOL = Buffer.allocUnsafe(4096);
let at = POOL.length;

/** `bytes` random bytes as text, drawn from a pool: one system call serves many ids. */
function random(bytes: number): string {
  if (at + bytes > POOL.length) {
    randomFillSync(POOL);
    at = 0;
  }
  at += bytes;
  return POOL.toString('base64url', at - bytes, at);
}

/** 64 random bits: one incarnation of a session's log. */
export const newEpoch = (): string => random(8);

/** An idempotency key of the gateway's own. It begins with a space, which no key of a client has. */
export const ownKey = (...parts: readonly [feature: string, ...ids: (string | number)[]]): string =>
  ` ${JSON.stringify(parts)}`;

/** A hash of a text, in 43 characters. JSON escapes half characters, which UTF-8 has not: so all texts differ. */
export const digestOf = (text: string): string =>
  createHash('sha256').update(JSON.stringify(text)).digest('base64url');

/** Most bytes of an id of ours that is made of others. */
const MAX_COMPOSED_BYTES = 120;
/** Characters of a long one that stay readable. */
const READABLE = 72;

/** An id to be kept that is made of parts, any texts: the same for the same parts alone. A long one ends with a hash, and cannot be read. */
export function idOf(...parts: readonly (string | number)[]): string {
  const id = composeId(...parts);
  // All of it is ASCII.
  if (id.length <= MAX_COMPOSED_BYTES) return id;
  // No part is written with this mark, so no escape may end before it.
  return `${cut(id, READABLE).replace(/!.*/, '')}!h${digestOf(id)}`;
}

/** A new random id that says what it is of. */
export const newId = (prefix: string): string => `${prefix}_${random(12)}`;
export const newNoticeId = (): string => `ntc_${random(12)}`;
/** 128 bits. A grant's id alone gives no access, but nobody must be able to guess which ids exist. */
export const newGrantId = (): string => random(16);
export const newAuditId = (): string => `aud_${random(12)}`;
export const newRunId = (): string => `run_${random(12)}`;
export const newMessageId = (): string => `msg_${random(12)}`;
export const newCallId = (): string => `call_${random(12)}`;
const GATE = 'gate_';
/** A question that the gateway itself asks of a run, before its app goes on. */
export const newGateCallId = (): string => `${GATE}${random(12)}`;
export const isGateCallId = (id: string): boolean => id.startsWith(GATE);
/** A random prefix that identifies this process. */
const REQUESTS = `req_${random(6)}`;
let requests = 0;

/** Id of a request. Counted, because that is many times cheaper than random text. It can be guessed, and gives no access. */
export const newRequestId = (): string => `${REQUESTS}${(++requests).toString(36)}`;

const CALLERS = `conn_${random(18)}`;
let callers = 0;

/** A caller without a connection, which is one of a single call. Counted as requests are: nothing is reached by it. */
export const newClientId = (): string => `${CALLERS}${(++callers).toString(36)}`;

export const newGatewayId = (): string => `gw_${random(9)}`;
/** Id of one start of a gateway. */
export const newHolder = (gatewayId: string): string => `${gatewayId}.${random(6)}`;

export const gatewayIdOf = (holder: string): string => holder.slice(0, holder.lastIndexOf('.'));

/** At least 128 bits: anybody who knows it may change the connection's subscriptions, within their own scope. */
export const newConnectionId = (): string => `conn_${random(18)}`;

const DIGITS = Buffer.allocUnsafeSlow(4096);
let digits = '';
let digit = 0;

/** Random hex digits, cut from a long text, which is cheaper than separate conversions. For short-lived values: a piece keeps the whole text. */
function randomDigits(length: number): string {
  if (digit + length > digits.length) {
    digits = randomFillSync(DIGITS).toString('hex');
    digit = 0;
  }
  digit += length;
  return digits.slice(digit - length, digit);
}

/** A trace id of W3C Trace Context: 16 bytes, hex. */
export const newTraceId = (): string => randomDigits(32);

/** Checks the id that an app gives. @throws GatewayError `INVALID_PARAMS` naming the field */
export function givenId(id: unknown, field: string, most?: number): string {
  const problem = typeof id === 'string' ? idProblem(id, most) : 'must be a text';
  if (problem !== null) throw fieldError(field, problem);
  return id as string;
}

/** An id of a model or a framework, in a form that sessions keep: the same for the same id. Some carry kilobytes of signatures. */
export const fittingId = (id: string): string => (idProblem(id) === null ? id : `id_${digestOf(id)}`);
