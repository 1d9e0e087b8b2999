import { GatewayError, isGatewayError } from '../../../shared/errors.js';

/** A reply that is not of the protocol. @param path of the wrong field; empty for the line itself */
export function replyFault(line: number, path: string, message: string): GatewayError {
  const at = path === '' ? '' : ` ${path}:`;
  return new GatewayError({
    code: 'APP_REPLY_INVALID',
    message: `Line ${line} of the app's reply:${at} ${message}`,
    details: [{ line, path, message }],
  });
}

/** A whole reply that is not of the protocol. */
export const statusFault = (message: string): GatewayError =>
  new GatewayError({ code: 'APP_REPLY_INVALID', message: `The app's reply: ${message}` });

export const isFault = (error: unknown): error is GatewayError =>
  isGatewayError(error) && error.code === 'APP_REPLY_INVALID';

/** A slice that broke off: the app may be called again. */
export class SliceDied extends Error {
  override name = 'SliceDied';
  /** Whether the connection was one that the app had closed before. */
  readonly stale: boolean;
  /** The time to wait that the app asked for, in milliseconds. */
  readonly afterMs: number;

  constructor(message: string, { stale = false, afterMs = 0, ...options }: DiedOptions = {}) {
    super(message, options);
    this.stale = stale;
    this.afterMs = afterMs;
  }
}

interface DiedOptions extends ErrorOptions {
  readonly stale?: boolean;
  readonly afterMs?: number;
}
