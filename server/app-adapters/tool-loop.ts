import type { Message, ToolResultBlock, ToolUseBlock } from '../../shared/messages.js';
import type { AppEvent, AppResult, Turn } from '../apps/application.js';
import { ToolCallError } from '../runs/tool-error.js';
import { withFiles } from './inline-files.js';
import type { Answered } from './model-caller.js';
import { once } from './once.js';
import type { ItemGenerator } from './streamed-step.js';

/** A conversation with a model that calls tools. */
interface ToolLoop<Said> {
  /** Most requests to the model. */
  readonly maxSteps: number;
  /** Whether calls of tools are steps. */
  readonly durable: boolean;
  /** Names of the tools that the model is offered. */
  readonly names: ReadonlySet<string>;
  /** Ids of the calls of the conversation. The loop adds its own. */
  readonly taken: Set<string>;
  /** Asks the model once. */
  ask(): ItemGenerator<Answered<Said>>;
  /** Adds an answer, the results of its calls, and messages that steer the run. */
  add(answered: Answered<Said>, results: readonly ToolResultBlock[], steered: readonly Message[]): void;
}

/** Asks the model, makes its calls, and asks again with their results. */
export async function* toolLoop<Said>(
  turn: Turn,
  { maxSteps, durable, names, taken, ask, add }: ToolLoop<Said>,
): AsyncGenerator<string | AppEvent, AppResult> {
  // A resumed run takes the same path again, and gets the outcome of everything that ended.
  const perform = <T>(name: string, work: () => T | Promise<T>): T | Promise<T> =>
    durable ? once(turn, name, work) : work();
  // A tool that another version of the app had fails here, and its question would wait for nothing.
  const nameOf = ({ name }: ToolUseBlock): string =>
    turn.rehearsing && !names.has(name) ? `no tool ${name}` : `tool ${name}`;
  for (let step = 1; step <= maxSteps; step += 1) {
    const answered = yield* ask();
    const { calls, stopReason, isPaused } = answered;
    if (calls.length === 0 && !isPaused) return { stopReason };
    const results = await Promise.all(calls.map((call) => perform(nameOf(call), () => makeCall(turn, call))));
    // The step keeps the messages, but not the bytes of their files.
    const steered = await withFiles(turn, await perform('steered', () => turn.steered()));
    for (const { callId } of calls) taken.add(callId);
    add(answered, results, steered);
  }
  return { stopReason: 'tool_use' };
}

/** Makes a call through the gateway, which asks and logs. The model gets a failure as the result. */
async function makeCall(turn: Turn, { callId, name, input }: ToolUseBlock): Promise<ToolResultBlock> {
  const result = (output: unknown, isError: boolean): ToolResultBlock => ({
    type: 'tool_result',
    callId,
    name,
    output,
    isError,
  });
  try {
    return result((await turn.callTool(name, input as never)) ?? null, false);
  } catch (error) {
    if (error instanceof ToolCallError) return result(error.message, true);
    throw error;
  }
}

/** The ids of the calls in messages. */
export const callIdsOf = (messages: readonly Pick<Message, 'content'>[]): Set<string> =>
  new Set(
    messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === 'tool_use' ? [block.callId] : [])),
    ),
  );
