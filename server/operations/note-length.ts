import { fieldError } from '../../shared/errors.js';

/** @throws GatewayError `INVALID_PARAMS` for a person's note that is too long */
export function checkNote(field: string, text: string | undefined, most: number): void {
  if (text !== undefined && text.length > most)
    throw fieldError(field, `must have at most ${most} characters (limits.noteLength)`);
}
