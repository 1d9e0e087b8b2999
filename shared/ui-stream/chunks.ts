/** The reason why an answer, or this part of it, has ended, in the words of the AI SDK. */
export type UiFinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'error' | 'other';

interface UiCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly dynamic?: boolean;
  readonly providerExecuted?: boolean;
}

/** A chunk of a UI message stream of the AI SDK, versions 5 to 7. Approvals exist from 6 on, their outcome from 7 on. */
export type UiChunk =
  | { readonly type: 'start'; readonly messageId?: string; readonly messageMetadata?: unknown }
  | { readonly type: 'start-step' | 'finish-step' }
  | {
      readonly type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end';
      readonly id: string;
    }
  | { readonly type: 'text-delta' | 'reasoning-delta'; readonly id: string; readonly delta: string }
  | ({ readonly type: 'tool-input-start' } & UiCall)
  | ({ readonly type: 'tool-input-available'; readonly input: unknown } & UiCall)
  | {
      readonly type: 'tool-output-available';
      readonly toolCallId: string;
      readonly output: unknown;
      readonly dynamic?: boolean;
      readonly providerExecuted?: boolean;
    }
  | {
      readonly type: 'tool-output-error';
      readonly toolCallId: string;
      readonly errorText: string;
      readonly dynamic?: boolean;
      readonly providerExecuted?: boolean;
    }
  | { readonly type: 'tool-approval-request'; readonly approvalId: string; readonly toolCallId: string }
  | {
      readonly type: 'tool-approval-response';
      readonly approvalId: string;
      readonly approved: boolean;
      readonly reason?: string;
    }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  | { readonly type: 'file'; readonly url: string; readonly mediaType: string }
  | {
      readonly type: 'source-url';
      readonly sourceId: string;
      readonly url: string;
      readonly title?: string;
    }
  | {
      readonly type: `data-${string}`;
      readonly id?: string;
      readonly data: unknown;
      readonly transient?: boolean;
    }
  | { readonly type: 'reset-step' }
  | { readonly type: 'message-metadata'; readonly messageMetadata: unknown }
  | { readonly type: 'finish'; readonly finishReason: UiFinishReason; readonly messageMetadata?: unknown }
  | { readonly type: 'abort'; readonly reason?: string }
  | { readonly type: 'error'; readonly errorText: string };

/** A part of a `UIMessage`. */
export type UiPart = { readonly type: string } & Readonly<Record<string, unknown>>;

/**
 * A message in the form that interfaces of the AI SDK show, of the type `UIMessage` of each of its versions. Their types of parts exclude each
 * other, so a part has none here: read it as `UiPart`.
 */
export interface UiMessage {
  readonly id: string;
  readonly role: 'system' | 'user' | 'assistant';
  readonly metadata?: unknown;
  readonly parts: any[];
}
