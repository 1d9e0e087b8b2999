import { randomFillSync } from 'node:crypto';

const POOL = Buffer.allocUnsafe(4096);
let at = POOL.length;

/** `bytes` random bytes as text. Drawn from a pool: one system call serves many ids. */
function random(bytes: number, encoding: 'base64url' | 'hex' = 'base64url'): string {
  if (at + bytes > POOL.length) {
    randomFillSync(POOL);
    at = 0;
  }
  at += bytes;
  return POOL.toString(encoding, at - bytes, at);
}

/** 64 random bits: one incarnation of a session's log. */
export const newEpoch = (): string => random(8);

export const newRunId = (): string => `run_${random(12)}`;
export const newMessageId = (): string => `msg_${random(12)}`;
export const newCallId = (): string => `call_${random(12)}`;
export const newRequestId = (): string => `req_${random(12)}`;
export const newGatewayId = (): string => `gw_${random(9)}`;
/** One start of a gateway. */
export const newHolder = (gatewayId: string): string => `${gatewayId}.${random(6)}`;

/** At least 128 bits: whoever knows it may change what the connection receives, within its own scope. */
export const newConnectionId = (): string => `conn_${random(18)}`;

/** A trace id of W3C Trace Context: 16 bytes, hex. */
export const newTraceId = (): string => random(16, 'hex');
