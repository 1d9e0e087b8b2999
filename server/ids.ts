import { randomFillSync } from 'node:crypto';

const POOL = Buffer.allocUnsafe(4096);
let at = POOL.length;

/** `bytes` random bytes as text. Drawn from a pool: one system call serves many ids. */
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

export const newScheduleId = (): string => `sch_${random(12)}`;
export const newNoticeId = (): string => `ntc_${random(12)}`;
/** 128 bits: whoever has a grant is known by more than its id, but nobody is to find out which there are. */
export const newGrantId = (): string => random(16);
export const newRunId = (): string => `run_${random(12)}`;
export const newMessageId = (): string => `msg_${random(12)}`;
export const newCallId = (): string => `call_${random(12)}`;
/** Names this process among all that ever answer. */
const REQUESTS = `req_${random(6)}`;
let requests = 0;

/** One request. Counted, which is many times cheaper than random text for each: it can be guessed, and lets nobody do anything. */
export const newRequestId = (): string => `${REQUESTS}${(++requests).toString(36)}`;

const CALLERS = `conn_${random(18)}`;
let callers = 0;

/** A caller without a connection, which is one of a single call. Counted as requests are: nothing is reached by it. */
export const newClientId = (): string => `${CALLERS}${(++callers).toString(36)}`;

export const newGatewayId = (): string => `gw_${random(9)}`;
/** One start of a gateway. */
export const newHolder = (gatewayId: string): string => `${gatewayId}.${random(6)}`;

export const gatewayIdOf = (holder: string): string => holder.slice(0, holder.lastIndexOf('.'));

/** At least 128 bits: whoever knows it may change what the connection receives, within its own scope. */
export const newConnectionId = (): string => `conn_${random(18)}`;

const DIGITS = Buffer.allocUnsafeSlow(4096);
let digits = '';
let digit = 0;

/** Random hex digits, cut from a text: many times cheaper than one conversion for each. For what lives as long as one call, since a piece keeps the text. */
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
