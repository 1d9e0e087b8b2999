import type { StopReason, Usage } from '../messages.js';

/** What is known of an answer when metadata of its `UIMessage` is told. */
export interface UiMessageInfo {
  readonly runId: string;
  /** Why the run ended; absent before that. */
  readonly stopReason?: StopReason;
  readonly usage?: Usage;
  /** Place in the session's events up to which it was told; absent in histories and where it begins. */
  readonly cursor?: string;
  /** What the app has annotated the answer with. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** How answers are told to interfaces of the AI SDK. */
export interface UiStreamOptions {
  /**
   * Major version of the SDK. Version 5 has no approvals: it is told of them by data parts `data-approval-request`. With 7 a page is told of
   * approvals that were given elsewhere; what 6 is told is known to 7 too. Version 6 fails at what only 7 knows.
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
