import type { HandOff } from '../../shared/control.js';
import { fieldError } from '../../shared/errors.js';

/** Checks the arguments of `turn.handOff`. @throws GatewayError `INVALID_PARAMS` */
export function handOffOf({ reason, roles }: HandOff): HandOff {
  if (reason !== undefined && typeof reason !== 'string') throw fieldError('reason', 'must be a text');
  const isRole = (role: unknown): boolean => typeof role === 'string' && role !== '';
  if (roles !== undefined && !(Array.isArray(roles) && roles.length > 0 && roles.every(isRole)))
    throw fieldError('roles', 'must be names of roles, at least one');
  return { ...(reason !== undefined && { reason }), ...(roles && { roles: [...roles] }) };
}

/** The end of a sleep, in milliseconds since the epoch. @throws GatewayError `INVALID_PARAMS` */
export function wakingAt(time: number | Date, now: number): number {
  // A date is one of this process's clock.
  const at = now + (time instanceof Date ? time.getTime() - Date.now() : time);
  if (Number.isFinite(at) && (time instanceof Date || time >= 0)) return at;
  throw fieldError('time', 'must be a date, or a number of milliseconds that is not negative');
}
