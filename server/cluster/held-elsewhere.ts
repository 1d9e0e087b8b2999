import { GatewayError } from '../../shared/errors.js';

/** Another gateway holds the session. */
export class HeldElsewhere extends GatewayError {
  readonly holder: string;

  constructor(holder: string) {
    super({ code: 'OVERLOADED', message: 'The session is held by another gateway', retryAfterMs: 1000 });
    this.holder = holder;
  }
}
