import type { Turn } from '../../apps/application.js';
import { fittingId } from '../../ids.js';
import { ToolCallError } from '../../runs/tool-error.js';
import type { GraphInterrupt } from './reader.js';

/** A person's reply to a confirmation. */
export interface Decision {
  readonly approved: boolean;
  readonly reason?: string;
  /** The input, if the person changed it. */
  readonly input?: unknown;
}

/** An interrupt that asks to confirm something. */
export interface Confirmation {
  readonly name: string;
  readonly input: unknown;
  readonly message?: string;
  /** Makes the value that the graph's `interrupt()` returns. */
  resume(decision: Decision): unknown;
}

/** Reads an interrupt's value as a confirmation; undefined if it is not one. */
export type ReadInterrupt = (value: unknown) => Confirmation | undefined;

export interface InterruptOptions {
  readonly turn: Turn;
  readonly read: ReadInterrupt | undefined;
  /** The id of the call that a confirmation is about, if the model made one. */
  callId(name: string, input: unknown): string | undefined;
}

/** The values with which a graph resumes, by the interrupt's id; null if the person declined to answer. */
export async function answerInterrupts(
  interrupts: readonly GraphInterrupt[],
  options: InterruptOptions,
): Promise<{ readonly value: unknown } | null> {
  try {
    const answers = await Promise.all(interrupts.map(({ value }) => answer(value, options)));
    // Use ids even for a single interrupt: LangGraph takes a lone `false` for no answer.
    return { value: Object.fromEntries(interrupts.map(({ id = '' }, at) => [id, answers[at]])) };
  } catch (error) {
    if (error instanceof ToolCallError && error.denied) return null;
    throw error;
  }
}

async function answer(value: unknown, options: InterruptOptions): Promise<unknown> {
  const own = options.read?.(value);
  if (own) return confirm(own, options);
  if (isReview(value)) {
    const { actionRequests, reviewConfigs = [] } = value;
    const decisions = actionRequests.map((action, at) =>
      confirm(reviewed(action, reviewConfigs[at]), options),
    );
    return { decisions: await Promise.all(decisions) };
  }
  if (Array.isArray(value) && value.length > 0 && value.every(isInboxRequest))
    return Promise.all(value.map((one) => confirm(fromInbox(one), options)));
  if (isInboxRequest(value)) return confirm(fromInbox(value), options);
  if (isConfirmation(value)) return confirm({ ...value, resume: (decision) => decision }, options);
  return options.turn.ask({ name: 'interrupt', payload: value });
}

async function confirm(
  { name, input, message, resume }: Confirmation,
  { turn, callId }: InterruptOptions,
): Promise<unknown> {
  const id = callId(name, input);
  const request = {
    name,
    input,
    ...(message !== undefined && { message }),
    ...(id !== undefined && { callId: fittingId(id) }),
  };
  return resume(await turn.confirm(request));
}

/** Whether a value is a confirmation of a graph that was written for this adapter. */
function isConfirmation(value: unknown): value is Omit<Confirmation, 'resume'> {
  const { type, name } = (value ?? {}) as Record<string, unknown>;
  return type === 'confirmation' && typeof name === 'string';
}

interface Action {
  readonly name: string;
  readonly args: unknown;
  readonly description?: string;
}

interface ReviewConfig {
  readonly allowedDecisions?: readonly string[];
}

/** Whether a value is an interrupt of LangChain's `humanInTheLoopMiddleware`. */
function isReview(
  value: unknown,
): value is { readonly actionRequests: readonly Action[]; readonly reviewConfigs?: readonly ReviewConfig[] } {
  const { actionRequests } = (value ?? {}) as Record<string, unknown>;
  return Array.isArray(actionRequests) && actionRequests.every((action) => typeof action?.name === 'string');
}

function reviewed({ name, args, description }: Action, config: ReviewConfig | undefined): Confirmation {
  const mayEdit = config?.allowedDecisions?.includes('edit') ?? true;
  return {
    name,
    input: args,
    ...(description !== undefined && { message: description }),
    resume({ approved, reason, input }) {
      if (!approved) return { type: 'reject', ...(reason !== undefined && { message: reason }) };
      if (input === undefined) return { type: 'approve' };
      if (mayEdit) return { type: 'edit', editedAction: { name, args: input } };
      return { type: 'reject', message: 'The input may not be changed' };
    },
  };
}

interface InboxRequest {
  readonly action_request: { readonly action: string; readonly args: unknown };
  readonly config?: { readonly allow_respond?: boolean };
  readonly description?: string;
}

/** Whether a value is LangGraph's `HumanInterrupt`, which its agent inbox and prebuilt agents use. */
function isInboxRequest(value: unknown): value is InboxRequest {
  const { action_request: request } = (value ?? {}) as { action_request?: { action?: unknown } };
  return typeof request?.action === 'string';
}

function fromInbox({ action_request: { action, args }, config, description }: InboxRequest): Confirmation {
  return {
    name: action,
    input: args,
    ...(description !== undefined && { message: description }),
    resume({ approved, reason, input }) {
      if (approved && input === undefined) return { type: 'accept', args: null };
      if (approved) return { type: 'edit', args: { action, args: input } };
      if (reason !== undefined && config?.allow_respond) return { type: 'response', args: reason };
      return { type: 'ignore', args: null };
    },
  };
}
