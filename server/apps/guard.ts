import type { UserContext } from '../../shared/contract.js';
import { type ErrorCode, fieldError } from '../../shared/errors.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import { isPlainObject } from '../schema/schema.js';

/**
 * The parts that a guard can check. `text` and `reasoning` come in windows, the others whole. `data`: data blocks, progress of tools, titles, annotations,
 * questions, custom events and channels; `step`: outcomes that are kept beside the log; `message`: what people say.
 */
export const GUARDED_PARTS = [
  'text',
  'reasoning',
  'tool-input',
  'tool-output',
  'data',
  'step',
  'message',
] as const;

/** A part that a guard can check. */
export type GuardedPart = (typeof GUARDED_PARTS)[number];

/**
 * A check's word: nothing (or `'pass'`) lets the text through; `replace` is said in its place, for a value as JSON; `end` ends the run with
 * `moderated`, and says its text, which may be empty.
 */
export type GuardVerdict =
  | undefined
  | void
  | 'pass'
  | { readonly replace: string }
  | { readonly end: string };

/** The surroundings of a text that is checked. */
export interface GuardContext {
  readonly kind: GuardedPart;
  /** The text of this kind that the answer has already and readers may have read. Empty for other kinds. */
  readonly soFar: string;
  /** The run that says it; null for a message that nobody has accepted yet. */
  readonly run: { readonly id: string; readonly app: string; readonly sessionId: string } | null;
  readonly user: UserContext | null;
  /** Name of the tool, data block, event, question or step. */
  readonly name?: string;
  /** The value of which the text is the JSON, for kinds that are values. */
  readonly value?: unknown;
  /** Aborted once nobody waits for the verdict. */
  readonly signal: AbortSignal;
}

/** Checks a text before it is in the log. */
export type GuardCheck = (text: string, about: GuardContext) => MaybePromise<GuardVerdict>;

/** How much text is held before it is checked. The first of these that comes counts. */
export interface GuardWindow {
  /** Characters, 1 to 16,384. @default 200; 2,000 if `sentences` is given */
  readonly chars?: number | undefined;
  /** Whole sentences. The beginning of the next one stays held. */
  readonly sentences?: number | undefined;
  /** Milliseconds since the first text that is not checked yet. @default 500 */
  readonly ms?: number | undefined;
  /** Characters of checked text that stay held, and are checked again with the next window, so that nothing shorter than this slips through between two windows. @default 64 */
  readonly overlap?: number | undefined;
}

/** Stands between an app and the log: what it has not let through is in no log, and so nowhere. */
export interface Guard {
  /** One check, or several that look at each text at the same time. The first that says `end` decides; what one replaces, the others check again. */
  readonly check: GuardCheck | readonly GuardCheck[];
  readonly window?: GuardWindow | undefined;
  /** @default ['text', 'reasoning'] */
  readonly parts?: readonly GuardedPart[] | undefined;
  /** The fate of a text whose check throws or takes too long. It is logged and counted either way. @default 'end' */
  readonly onFailure?: 'end' | 'pass' | undefined;
  /** Longest time of a check, in milliseconds. @default 5000 */
  readonly timeoutMs?: number | undefined;
}

const WINDOW: Readonly<Record<keyof GuardWindow, readonly [number, number]>> = {
  chars: [1, 16_384],
  sentences: [1, 100],
  ms: [0, 600_000],
  overlap: [0, 16_384],
};

/**
 * Refuses a guard that would check nothing, or not as it says.
 *
 * @param at Path of the guard.
 * @throws GatewayError `INVALID_PARAMS`, or `code`, that names the field
 */
export function checkGuard(given: unknown, at: string, code: ErrorCode = 'INVALID_PARAMS'): void {
  if (given === undefined) return;
  const refuse = (field: string, message: string): never => {
    throw fieldError(field === '' ? at : `${at}.${field}`, message, code);
  };
  if (!isPlainObject(given)) return refuse('', 'must be an object with a check');
  const { check, window = {}, parts, onFailure = 'end', timeoutMs = 1, ...others } = given;
  for (const field in others) refuse(field, 'unknown field; a guard has check, window, parts and onFailure');
  const checks: readonly unknown[] = Array.isArray(check) ? check : [check];
  if (checks.length === 0 || !checks.every((each) => typeof each === 'function'))
    refuse('check', 'must be a function, or a list of functions');
  if (!isPlainObject(window)) return refuse('window', 'must be an object, such as { chars: 200 }');
  for (const [field, value] of Object.entries(window)) {
    const range = Object.hasOwn(WINDOW, field) ? WINDOW[field as keyof GuardWindow] : null;
    if (!range) refuse(`window.${field}`, `unknown field; a window has ${Object.keys(WINDOW).join(', ')}`);
    const [least, most] = range!;
    const fits = Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
    if (value !== undefined && !fits)
      refuse(`window.${field}`, `must be a whole number from ${least} to ${most}`);
  }
  const known: readonly unknown[] = GUARDED_PARTS;
  const isList =
    parts === undefined ||
    (Array.isArray(parts) && parts.length > 0 && parts.every((part) => known.includes(part)));
  if (!isList) refuse('parts', `must be a list of ${GUARDED_PARTS.join(', ')}`);
  if (onFailure !== 'end' && onFailure !== 'pass') refuse('onFailure', "must be 'end' or 'pass'");
  if (typeof timeoutMs !== 'number' || !(timeoutMs > 0)) refuse('timeoutMs', 'must be a positive number');
}

/** The answer of a run as its guards have let it through, for what keeps a record of it. */
export const LET_THROUGH: unique symbol = Symbol.for('agent-session-gateway.let-through');

/** The part of an answer that its guards have let through. */
export interface LetThrough {
  /** The text, once all that was said is checked. */
  text(): Promise<string>;
  /** Whether a check has changed or ended anything. */
  readonly touched: boolean;
}
