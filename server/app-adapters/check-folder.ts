import { fieldError } from '../../shared/errors.js';

/** @throws GatewayError `INVALID_PARAMS` for a folder that is no absolute path */
export function checkFolder(cwd: unknown): string {
  const isWhole = typeof cwd === 'string' && /^(?:\/|[A-Za-z]:[\\/]|\\\\)/.test(cwd);
  if (!isWhole) throw fieldError('cwd', 'must be an absolute path');
  return cwd;
}
