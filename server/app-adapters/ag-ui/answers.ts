import type { Interrupt } from '@ag-ui/client';
import type { AgUiMessage } from '../../../shared/ag-ui/events.js';
import type { Turn } from '../../apps/application.js';
import { fittingId } from '../../ids.js';
import { ToolCallError } from '../../runs/tool-error.js';

/** A call that an agent has left to others. */
export interface AgUiCallLeft {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** The answer to one interrupt. */
export interface ResumeEntry {
  readonly interruptId: string;
  readonly status: 'resolved' | 'cancelled';
  readonly payload?: unknown;
}

/** Asks the person all that a run of an agent waits for, at once. @param callOf The call of an id */
export function answerInterrupts(
  turn: Turn,
  interrupts: readonly Interrupt[],
  callOf: (id: string) => Omit<AgUiCallLeft, 'id'> | undefined,
): Promise<ResumeEntry[]> {
  return Promise.all(interrupts.map((interrupt) => answerOf(turn, interrupt, callOf)));
}

async function answerOf(
  turn: Turn,
  interrupt: Interrupt,
  callOf: (id: string) => Omit<AgUiCallLeft, 'id'> | undefined,
): Promise<ResumeEntry> {
  const { id: interruptId, reason, message, toolCallId, responseSchema: schema, expiresAt } = interrupt;
  const isDecision = reason === 'tool_call' || reason === 'confirmation';
  if (!isDecision) {
    try {
      const payload = await turn.ask({ name: 'interrupt', payload: interrupt });
      return { interruptId, status: 'resolved', payload };
    } catch (error) {
      if (error instanceof ToolCallError && error.denied) return { interruptId, status: 'cancelled' };
      throw error;
    }
  }
  const call = toolCallId === undefined ? undefined : callOf(toolCallId);
  const leftMs = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt) - Date.now();
  const decision = await turn.confirm({
    name: fittingId(call?.name ?? reason),
    input: call?.input ?? {},
    ...(message !== undefined && { message }),
    ...(toolCallId !== undefined && call && { callId: fittingId(toolCallId) }),
    ...(leftMs > 0 && { expiresInMs: Math.ceil(leftMs) }),
  });
  const { approved, reason: why, input, expired } = decision;
  if (expired || leftMs <= 0) return { interruptId, status: 'cancelled' };
  // A free decision is answered by yes or no unless its schema says otherwise.
  if (schema ? schema.type === 'boolean' : reason === 'confirmation')
    return { interruptId, status: 'resolved', payload: approved };
  const edited = fieldOf(schema, 'editedArgs') ? 'editedArgs' : 'input';
  const payload = {
    approved,
    ...(why !== undefined && { reason: why }),
    ...(input !== undefined && { [edited]: input }),
  };
  return { interruptId, status: 'resolved', payload };
}

const fieldOf = (schema: Interrupt['responseSchema'], name: string): unknown => schema?.properties?.[name];

/** Makes the calls of an agent through the turn, all at once. A call that fails is one of the results. */
export function answerCalls(
  turn: Turn,
  calls: readonly AgUiCallLeft[],
  perform: <T>(name: string, work: () => T | Promise<T>) => T | Promise<T>,
): Promise<AgUiMessage[]> {
  return Promise.all(
    calls.map(async ({ id: toolCallId, name, input }): Promise<AgUiMessage> => {
      const made = async (): Promise<{ readonly content: string; readonly error?: string }> => {
        try {
          const output = (await turn.callTool(name, input as never)) as unknown;
          return { content: typeof output === 'string' ? output : (JSON.stringify(output) ?? '') };
        } catch (error) {
          if (error instanceof ToolCallError) return { content: error.message, error: error.message };
          throw error;
        }
      };
      const answer = await perform(`tool ${name}`, made);
      return { id: `${toolCallId}:result`, role: 'tool', toolCallId, ...answer };
    }),
  );
}
