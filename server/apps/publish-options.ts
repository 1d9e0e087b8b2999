import { GatewayError } from '../../shared/errors.js';
import type { PublishOptions } from '../../shared/method.js';

/**
 * The type of a published message.
 *
 * @throws GatewayError `INVALID_REQUEST` for invalid options, such as a bare type, which would otherwise be lost silently
 */
export function eventType(options: PublishOptions | undefined): string {
  if (options === undefined) return 'message';
  if (typeof options !== 'object' || options === null) {
    throw new GatewayError({
      code: 'INVALID_REQUEST',
      message: "publish takes options after the payload: publish(…, payload, { type: 'changed' })",
    });
  }
  return options.type ?? 'message';
}
