import { ERROR_TABLE } from '../../shared/errors.js';
import type { StoreErrorCode } from '../stores/append.js';

const STORE_CODES: Readonly<Record<StoreErrorCode, true>> = {
  FENCED: true,
  ROLLED_BACK: true,
  UNAVAILABLE: true,
  UNKNOWN: true,
  REFUSED: true,
};
const CODES: ReadonlySet<string> = new Set([...Object.keys(ERROR_TABLE), ...Object.keys(STORE_CODES)]);

/** A code as a label of metrics. Codes that hosts invent share one label, because there may be any number of them. */
export const codeLabel = (code: string): string => (CODES.has(code) ? code : 'OTHER');
