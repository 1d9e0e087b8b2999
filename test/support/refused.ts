import { expect } from 'chai';
import { type GatewayError, isGatewayError } from '../../shared/errors.js';

/** The GatewayError that a call throws or rejects with. */
export async function refusalOf(run: () => unknown): Promise<GatewayError> {
  try {
    await run();
  } catch (error) {
    if (isGatewayError(error)) return error;
    throw error;
  }
  return expect.fail('nothing was thrown');
}

/** The code of that error. */
export async function codeOf(run: () => unknown): Promise<string> {
  return (await refusalOf(run)).code;
}
