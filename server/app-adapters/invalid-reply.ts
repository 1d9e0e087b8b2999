import { GatewayError } from '../../shared/errors.js';

/** A reply that is not of its protocol. @param text Read by clients. @param cause Told to the log alone */
export const invalidReply = (text: string, cause?: unknown): GatewayError =>
  new GatewayError({
    code: 'APP_REPLY_INVALID',
    message: `The agent's reply: ${text}`,
    ...(cause !== undefined && { cause }),
  });
