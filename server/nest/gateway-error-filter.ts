import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import { GatewayError } from '../../shared/errors.js';
import { sendError } from '../transports/http/answer.js';
import { publicError } from '../transports/public-error.js';
import { takeOver } from './exchange.js';

/** Answers with a `GatewayError` from a controller in the gateway's own form. */
@Catch(GatewayError)
export class GatewayErrorFilter implements ExceptionFilter<GatewayError> {
  readonly #logger = new Logger('GatewayModule');

  catch(error: GatewayError, host: ArgumentsHost): void {
    // Other kinds of hosts have no response.
    if (host.getType() !== 'http') throw error;
    const { response } = takeOver(host.switchToHttp().getResponse());
    sendError(
      response,
      publicError(error, (cause, what) => this.#logger.error(what, cause)),
    );
  }
}
