import { GatewayError, isGatewayError } from '../../shared/errors.js';

/**
 * Makes a call of the store of files. Its failure is reported, and callers learn what they can do about it.
 *
 * @param what The work that is done, for the report
 * @throws GatewayError `QUOTA_EXCEEDED` if the disk is full, `OVERLOADED` for another failure of the store
 */
export async function guarded<T>(
  report: (error: unknown, what: string) => void,
  what: string,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (isGatewayError(error)) throw error;
    report(error, what);
    const isFull = ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException)?.code ?? '');
    throw new GatewayError({
      code: isFull ? 'QUOTA_EXCEEDED' : 'OVERLOADED',
      message: isFull ? 'There is no room left for files' : 'The files cannot be reached now',
      cause: error,
    });
  }
}
