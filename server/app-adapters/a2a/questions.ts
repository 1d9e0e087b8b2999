import type { Turn } from '../../apps/application.js';
import { fittingId } from '../../ids.js';
import { ToolCallError } from '../../runs/tool-error.js';
import { isPlainObject } from '../../schema/schema.js';
import { dataPart, textIn, textPart, valuesIn } from './parts.js';
import type { AgentMessage, AgentPart } from './sdk.js';

/** A question of a task. */
export interface TaskQuestion {
  /** `auth`: the person has to sign in somewhere, after which the task goes on by itself. */
  readonly kind: 'input' | 'auth';
  readonly message: AgentMessage | undefined;
}

/** One question of a gateway, which tells them as values. */
interface ToldQuestion {
  readonly kind: 'confirmation' | 'input';
  readonly callId: string;
  readonly name: string;
  readonly input?: unknown;
  readonly payload?: unknown;
  readonly message?: string;
}

/**
 * Asks the person what a task waits for.
 *
 * @returns The parts to send; none if the task goes on without an answer, null if the person declined.
 */
export async function askPerson(turn: Turn, { kind, message }: TaskQuestion): Promise<AgentPart[] | null> {
  const { parts = [] } = message ?? {};
  const values = valuesIn(parts);
  const told = values.filter(isToldQuestion);
  try {
    if (kind === 'input' && told.length > 0 && told.length === values.length)
      return await Promise.all(told.map(async (question) => dataPart(await answerOf(turn, question))));
    const text = textIn(parts);
    const payload = {
      ...(text !== '' && { message: text }),
      ...(values.length > 0 && { data: values }),
    };
    const answer = await turn.ask({ name: kind === 'auth' ? 'authorization' : 'input', payload });
    if (kind === 'auth' && answer === true) return [];
    return [typeof answer === 'string' ? textPart(answer) : dataPart(answer)];
  } catch (error) {
    if (error instanceof ToolCallError && error.denied) return null;
    throw error;
  }
}

function isToldQuestion(value: unknown): value is ToldQuestion {
  if (!isPlainObject(value)) return false;
  const { kind, callId, name } = value;
  return (
    (kind === 'confirmation' || kind === 'input') && typeof callId === 'string' && typeof name === 'string'
  );
}

async function answerOf(
  turn: Turn,
  { kind, callId, name: given, input, payload, message }: ToldQuestion,
): Promise<unknown> {
  const name = fittingId(given);
  if (kind === 'input') return { callId, output: await turn.ask({ name, payload }) };
  const said = typeof message === 'string' ? { message } : {};
  const { approved, reason } = await turn.confirm({ name, input, ...said });
  return { callId, approved, ...(reason !== undefined && { reason }) };
}
