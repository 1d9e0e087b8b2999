import type { UserContext } from '../../shared/contract.js';
import { type ErrorCode, fieldError } from '../../shared/errors.js';
import type { Message, Usage } from '../../shared/messages.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import { isPlainObject } from '../schema/schema.js';
import type { TurnSession } from './application.js';

/** The size of what a model would be given: the history and the message to answer, without images, files and reasoning. */
export interface HistorySize {
  readonly messages: number;
  readonly characters: number;
  /** A quarter of the characters. */
  readonly tokens: number;
}

/** Messages to summarize. */
export interface SummaryRequest {
  /** The oldest first. The first may be a former summary (`compaction`), which the new one replaces for this conversation. */
  readonly messages: readonly Message[];
  /** Identifies this summary, also when it is made again after a crash: an idempotency key for the model. */
  readonly key: string;
  /** Aborted when the run ends. */
  readonly signal: AbortSignal;
  readonly user: UserContext | null;
  readonly session: TurnSession;
}

/** A summary, and the token counts of making it. */
export interface MadeSummary {
  readonly summary: string;
  /** Added to the usage of the run. */
  readonly usage?: Usage;
}

/** The compaction of an app's conversations. */
export interface Compact {
  /**
   * Whether a run begins with a summary: from a size of its history on, or as the function says.
   *
   * @default { tokens: 100_000, messages: 800 }
   */
  readonly when?:
    | { readonly tokens?: number; readonly messages?: number }
    | ((size: HistorySize, history: readonly Message[]) => boolean);
  /**
   * The last messages that are left as they are, 0 to 40. They are fewer if they have more than a quarter of the tokens of `when`, and begin with a message of a user.
   *
   * @default 10
   */
  readonly keep?: number;
  /** Summarizes. If it fails, the run goes on with the whole history. */
  make(request: SummaryRequest): MaybePromise<string | MadeSummary>;
}

/** An app that has its conversations summarized. */
export interface CompactionOption {
  /**
   * Has the beginning of long conversations summarized, before `run` is called. The summary is in the log, and `turn.history` has it in place of the
   * messages that it covers. Everybody else still has these.
   *
   * @default never
   */
  readonly compact?: Compact;
}

/** The options of `turn.compact`. */
export type CompactOptions = Partial<Pick<Compact, 'keep' | 'make'>>;

/** The most messages that a summary leaves as they are. A snapshot of a session has more. */
const MAX_KEEP = 40;

/** Checks the compaction of an app. @throws GatewayError `INVALID_PARAMS`, or `code`, that names the field */
export function checkCompact(compact: Compact | undefined, at: string, code?: ErrorCode): void {
  if (compact === undefined) return;
  if (typeof compact?.make !== 'function')
    throw fieldError(`${at}.make`, 'must be a function that returns a summary', code);
  checkKeep(compact.keep, `${at}.keep`, code);
  const { when = {} } = compact;
  if (typeof when === 'function') return;
  const fits =
    isPlainObject(when) && Object.values(when).every((each) => typeof each === 'number' && each > 0);
  if (!fits || Object.keys(when).some((name) => name !== 'tokens' && name !== 'messages'))
    throw fieldError(`${at}.when`, 'must be { tokens, messages }, or a function', code);
}

/** @throws GatewayError `INVALID_PARAMS`, or `code` */
export function checkKeep(keep: unknown, path: string, code?: ErrorCode): void {
  if (
    keep !== undefined &&
    !(Number.isInteger(keep) && (keep as number) >= 0 && (keep as number) <= MAX_KEEP)
  )
    throw fieldError(path, `must be a whole number from 0 to ${MAX_KEEP}`, code);
}

/** The compaction among the options of an app that an adapter makes. */
export const compactOf = ({ compact }: CompactionOption): CompactionOption => (compact ? { compact } : {});
