import { pick } from '../pick.js';

/** A summary of a conversation up to one of its messages, which has it. Apps are given it in place of these messages; everybody else has both. */
export interface Compaction {
  /** Id of the summary. In an app's history it is the id of the message that has it. */
  readonly id: string;
  readonly summary: string;
  /** How many messages of the path it covers. */
  readonly covers: number;
  /** In milliseconds since the epoch. */
  readonly at: number;
  /** The run that made it. */
  readonly runId?: string;
  /** Token counts of making it, which are part of the run's own. */
  readonly usage?: Readonly<Record<string, unknown>>;
}

/** A summary that is made. */
export interface Compacted extends Omit<Compaction, 'at' | 'runId'> {
  /** Id of the last message that it covers. */
  readonly messageId: string;
}

/** The events of compaction. */
export interface CompactionEvents {
  /** The messages up to one are summarized. They stay in the log and in the conversation. */
  compacted: Compacted;
}

/** Calls for host code. */
export interface CompactionHostCalls {
  compact: {
    params: { readonly sessionId: string; readonly keep?: number | undefined };
    result: { readonly runId: string };
  };
}

/** Methods of a session for host code. */
export interface CompactionHandle {
  /**
   * Has the app summarize the conversation now, in a run beside it: the text of its answer is the summary, and is empty if there is nothing to summarize.
   *
   * @param options `keep`: the last messages that stay as they are. @default as the app says
   * @throws GatewayError `INVALID_REQUEST` for an app without `compact`, `SESSION_NOT_FOUND`
   */
  compact(options?: { readonly keep?: number | undefined }): Promise<{ readonly runId: string }>;
}

/** The limits of compaction. */
export interface CompactionLimits {
  /** Characters of a summary. @default 50,000 */
  readonly summaryLength: number;
}

/** The summary that an event tells of, as its message has it. */
export const compactionOf = (
  event: Compacted & { readonly ts: number; readonly runId?: string | undefined },
): Compaction =>
  ({ ...pick(event, 'id', 'summary', 'covers', 'runId', 'usage'), at: event.ts }) as Compaction;
