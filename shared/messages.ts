import type { Compaction } from './compaction/contract.js';
import type { Reaction } from './reactions/contract.js';
import type { Variants } from './variants/contract.js';

export type { Compacted, Compaction } from './compaction/contract.js';
export type { Reaction, ReactionGiven } from './reactions/contract.js';

/** Bytes of an image, file or audio block: by reference to an uploaded file, or inline as base64. */
interface Media {
  /** The gateway fills it in for an uploaded file (`fileId`). */
  readonly mediaType: string;
  readonly name?: string;
  /** The id that `POST /files` answered. */
  readonly fileId?: string;
  readonly url?: string;
  readonly data?: string;
}

/** Text, as written. */
export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}
/** A model's reasoning before the answer. */
export interface ReasoningBlock {
  readonly type: 'reasoning';
  readonly text: string;
}
/** An image. */
export interface ImageBlock extends Media {
  readonly type: 'image';
}
/** A file. */
export interface FileBlock extends Media {
  readonly type: 'file';
}
/** A recording. */
export interface AudioBlock extends Media {
  readonly type: 'audio';
}
/** A resource of another system, as MCP tools return them. */
export interface ResourceBlock {
  readonly type: 'resource';
  readonly uri: string;
  readonly mediaType?: string;
  readonly text?: string;
  readonly data?: string;
}
/** A call of a tool. */
export interface ToolUseBlock {
  readonly type: 'tool_use';
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
  /** Whether the model's provider made the call. Models are not shown such a call, or its result, again. */
  readonly providerExecuted?: boolean;
  /** `client`: the user's client answered it, and not the app. */
  readonly runsOn?: 'client';
  /** Somebody who was asked denied it. */
  readonly denied?: true;
}
/** The result of a tool call. */
export interface ToolResultBlock {
  readonly type: 'tool_result';
  readonly callId: string;
  readonly name: string;
  readonly output: unknown;
  readonly isError: boolean;
}
/** Structured content of an answer; the same `id` replaces the value. */
export interface DataBlock {
  readonly type: 'data';
  readonly id: string;
  readonly name: string;
  readonly value: unknown;
}

/** One piece of a message's content. */
export type ContentBlock =
  | TextBlock
  | ReasoningBlock
  | ImageBlock
  | FileBlock
  | AudioBlock
  | ResourceBlock
  | ToolUseBlock
  | ToolResultBlock
  | DataBlock;

/**
 * Why a run ended. `lost`: its gateway went away; `superseded`: an interrupting message took its place, or the conversation continues from elsewhere;
 * `taken_over`: a person has control, and its message stays; `handed_off`: its app has asked for a person; `moderated`: a guard did not let it say more.
 */
export type StopReason =
  | 'end'
  | 'max_tokens'
  | 'tool_use'
  | 'aborted'
  | 'superseded'
  | 'steered'
  | 'timeout'
  | 'error'
  | 'lost'
  | 'taken_over'
  | 'handed_off'
  | 'moderated'
  | 'budget';

/** The outcome of the run that wrote an answer: finished, stopped, failed or lost. Set by the gateway. */
export interface Outcome {
  readonly runId: string;
  /** The app that answered. */
  readonly app: string;
  readonly stopReason: StopReason;
  /** The failure, as clients may read it; or `DENIED`, for a run that ended well by a person's denial. */
  readonly error?: { readonly code: string; readonly message: string };
  /** All that the run itself has used. */
  readonly usage?: Usage;
  /** The same with the runs under it; absent if it has none that used anything. */
  readonly totalUsage?: Usage;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
}

/** A message for, or of, a run beside the conversation. Child runs of such a run are in the list of the conversation's answer. */
export type LaneMessage = Omit<Message, 'children'>;

/** A message for a run beside the conversation, while it runs. */
export interface SteeringMessage extends LaneMessage {
  /** Whether its app has taken it. */
  readonly taken?: true;
}

/** A run beside the conversation: its place, and what it was told. */
export interface LanePlace {
  /** Number of the lane, from 1. No other run in the state has it. */
  readonly lane: number;
  /** Id of a child among the children of its parent. */
  readonly name?: string;
  /** The run that spawned it; absent if a person began it. */
  readonly parentRunId?: string;
  /** The tool call of its parent for which it works. */
  readonly callId?: string;
  /** Whether it outlives its parent. */
  readonly detached?: true;
  /** Whether its end begins a run of the session's app. */
  readonly wakes?: true;
  /** `false`: its message and its answer do not join the conversation. */
  readonly keep?: false;
  /** The message that it answers. */
  readonly asked: LaneMessage;
  /** Messages that it was sent later. */
  readonly steering?: readonly SteeringMessage[];
}

/** A child run that has ended, with its answer. */
export interface ChildAnswer extends LanePlace, Outcome {
  readonly message: LaneMessage;
}

/** The author's role. */
export type Role = 'user' | 'assistant' | 'system' | 'tool';

/** A message of a session. `createdAt` is milliseconds since the epoch. An answer has its run's outcome once the run has ended. */
export interface Message extends Partial<Outcome> {
  readonly id: string;
  /**
   * Id of the message before it; null for the first of a conversation. The fold of the session's events sets it. It is absent in the queue and in the
   * events themselves.
   */
  readonly parentId?: string | null;
  /**
   * Ids of all messages with the same parent, this one included, the oldest first: versions of an edited message, or answers given instead of each
   * other. The fold sets it; absent if this is the only one.
   */
  readonly versions?: readonly string[];
  readonly role: Role;
  readonly content: readonly ContentBlock[];
  readonly createdAt: number;
  /** Id of the user who sent it. The gateway sets it in sessions that several users share, and on messages of an `operator`. */
  readonly senderId?: string;
  /** Set by the gateway on a message that a person in control wrote in the app's place. */
  readonly author?: 'operator';
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** People's reactions, one a person. Set by the gateway. */
  readonly reactions?: readonly Reaction[];
  /** The summary of the path up to this message, which apps are given in its place. Set by the gateway. */
  readonly compaction?: Compaction;
  /** The variants of the session by the end of the answer's run. The fold sets it. */
  readonly variants?: Variants;
  /** Set once it was taken back. */
  readonly retracted?: Retraction;
  /** The ended child runs of the answer's run, and theirs, in the order of their beginnings. The fold sets it. */
  readonly children?: readonly ChildAnswer[];
}

/** A message that was taken back as a whole, which has no content any more. */
export interface Retraction {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Id of the person who took it back, or whatever name the host gives. */
  readonly by?: string;
  readonly reason?: string;
}

/** A message as callers may write it: only `content` is required. */
export interface MessageInput
  extends Partial<
    Omit<
      Message,
      | ('content' | 'parentId' | 'versions' | 'senderId' | 'author')
      | ('reactions' | 'retracted' | 'compaction' | 'variants' | 'children')
      | keyof Outcome
    >
  > {
  readonly content: string | readonly ContentBlock[];
}

/** The message of a `send`: text, content blocks or a message. */
export type SendInput = string | readonly ContentBlock[] | MessageInput;

/** Token counts and cost of a call of a model or tool, as the app reports them, or of a whole run. */
export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  /** Those of `inputTokens` that the provider had in its cache. */
  readonly cachedInputTokens?: number;
  /** Those of `outputTokens` that are reasoning. */
  readonly reasoningTokens?: number;
  /** Name of the model. A whole run has none, because it may have several. */
  readonly model?: string;
  /** In `currency`. Absent if nobody knows it: of a run, if one of its calls has none, or another currency. */
  readonly cost?: number;
  /** Three letters of ISO 4217. */
  readonly currency?: string;
  readonly [name: string]: unknown;
}

/** The sum of what was used before and of a call. Numbers are added; other values are those of the call. */
export function addUsage(before: Usage | undefined, { model: _, ...call }: Usage): Usage {
  if (!before) return call;
  const sum: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(call)) {
    const old = sum[name];
    sum[name] = typeof value === 'number' && typeof old === 'number' ? old + value : value;
  }
  const { cost, currency } = before;
  if (cost === undefined || call.cost === undefined || currency !== call.currency) {
    delete sum.cost;
    delete sum.currency;
  }
  return sum;
}

/** A message as events carry it. Only the fold gives it a place among the others. */
export function withoutPlace({ parentId: _, versions: __, ...message }: Message): Message {
  return message;
}

/** The text of a message: its text blocks, joined. */
export function textOf(message: Pick<Message, 'content'>): string {
  let text = '';
  for (const block of message.content) if (block.type === 'text') text += block.text;
  return text;
}
