import type { StopReason, Usage } from '../messages.js';

/** The facts about an answer from which its `UIMessage` gets metadata. */
export interface UiMessageInfo {
  readonly runId: string;
  /** Why the run ended; absent before that. */
  readonly stopReason?: StopReason;
  readonly usage?: Usage;
  /** The place in the session's events up to which it was told; absent in histories and at its beginning. */
  readonly cursor?: string;
  /** The app's annotations of the answer. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** How answers are told to interfaces of the AI SDK. */
export interface UiStreamOptions {
  /**
   * Major version of the SDK. Version 5 has no approvals and gets data parts `data-approval-request`. Version 7 also learns of approvals that were
   * given elsewhere. It reads everything that 6 is told; 6 fails on parts that only 7 knows.
   *
   * @default 6
   */
  readonly version?: 5 | 6 | 7;
  /** Whether calls of the app's own tools are parts `dynamic-tool`, for pages that don't list the tools; `false` makes them `tool-<name>`. @default true */
  readonly dynamicTools?: boolean;
  /**
   * Shapes the messages' metadata, for pages that have a schema for it. Must return the same for the same information, and an object: a
   * continued answer without any metadata makes pages ask again and again.
   *
   * @default the annotations of the answer and all that `info` has
   */
  readonly messageMetadata?: (info: UiMessageInfo) => object;
}

/** The metadata of a message. */
export function metadataOf(info: UiMessageInfo, { messageMetadata }: UiStreamOptions): object {
  if (messageMetadata) return messageMetadata(info);
  const { metadata, ...rest } = info;
  return { ...metadata, ...rest };
}
