import { cut } from '../../shared/cut.js';
import type { RecordChange, StoredRecord } from '../stores/records.js';
import type { BackOff, DueKind } from './due-kind.js';

/** Some 24 hours with the default pauses. */
const ATTEMPTS = 100;
const BACK_OFF: BackOff = { fromMs: 1000, toMs: 15 * 60_000 };
/** Longest reason that is kept, in characters. */
const REASON_LENGTH = 500;

/** Owner of records that have failed, which finds them across all homes. Kinds with owners of their own keep them. */
export const FAILING = 'failing';

/** The part of a due record's value that tells of its attempts. Each kind's value may have it beside its own fields. */
export interface Attempted {
  /** Attempts that have failed. */
  readonly attempts?: number;
  /** When the last attempt failed, by the store's clock, and why. */
  readonly failed?: { readonly at: number; readonly error: string };
  /** When an operator had it tried again after it was given up, by the store's clock. */
  readonly retriedAt?: number;
}

/** How many attempts of a record have failed. */
export const attemptsOf = ({ value }: Pick<StoredRecord, 'value'>): number =>
  (JSON.parse(value) as Attempted | null)?.attempts ?? 0;

/** A value without its attempts. */
export function unattempted(value: string): object {
  const { attempts: _, failed: __, ...own } = JSON.parse(value) as Attempted;
  return own;
}

export const mostAttempts = ({ attempts = ATTEMPTS }: DueKind): number => attempts;

/** The reason of a failure in the form in which it is kept. */
export const reasonOf = (error: unknown): string =>
  cut(`${error instanceof Error ? error.message : error}`, REASON_LENGTH);

/** The pause after so many failed attempts, give or take a tenth, in milliseconds. */
export function pauseAfter(attempts: number, { backOff = BACK_OFF }: DueKind): number {
  const { fromMs, toMs, times = 2 } = backOff;
  return Math.round(Math.min(fromMs * times ** (attempts - 1), toMs) * (0.9 + Math.random() * 0.2));
}

/** The record with one attempt more, due again at a time. */
export function putBack(
  { kind, id, owner = FAILING, value }: StoredRecord,
  attempted: Attempted,
  { dueAt, token }: { readonly dueAt: number; readonly token: number },
): RecordChange {
  return { kind, id, owner, dueAt, value: JSON.stringify({ ...JSON.parse(value), ...attempted }), token };
}
