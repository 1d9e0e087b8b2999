import { appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AppEvent, Application, AppResult, Turn } from '../../apps/application.js';
import { defineApp } from '../../apps/define-app.js';
import { LET_THROUGH, type LetThrough } from '../../apps/guard.js';
import { type Tool, type ToolOutput, toolResult } from '../../apps/tool.js';
import {
  type Call,
  kept,
  type RecordedCall,
  type RecordedTurn,
  type Redact,
  type Tape,
  tapes,
  withoutSecrets,
} from './tape.js';

/** The destination of recordings, and the values to leave out. */
export interface RecordingOptions {
  /** Receives each run at its end. `recordInto` writes files. */
  readonly to: (turn: RecordedTurn) => unknown;
  /** Changes values of calls before they are kept, by field name. @default leaves out fields with names of secrets */
  readonly redact?: Redact | undefined;
  /** Receives errors of keeping a recording. @default nobody */
  readonly onError?: ((error: unknown) => void) | undefined;
}

type AnyTool = Tool<any, any>;

/** Calls whose results the app gets before a guard has seen them. */
const RAW: ReadonlySet<string> = new Set(['model', 'step', 'tool']);

const INNER = Symbol.for('agent-session-gateway.recorded-app');
const RESULT = Symbol.for('agent-session-gateway.tool-result');

/**
 * Wraps an app so that its runs are recorded: messages, steps, calls of tools and of models (`modelFetch`), and answers of people.
 * `replaySession` and `agent-session-gateway replay` run a record against other code.
 *
 * @example
 * ```ts
 * const recorded = recording(app, { to: recordInto('recordings') });
 * ```
 */
export function recording<App extends Application>(
  app: App,
  { to, redact = withoutSecrets, onError }: RecordingOptions,
): App {
  return onTape(app, (turn) => {
    const calls: RecordedCall[] = [];
    /** The calls whose output still comes. */
    const open = new Set<() => void>();
    const begun = ({ kind, name, input }: Call) => {
      const call = { kind, name, input: kept(input, redact) };
      return {
        gave: (output: unknown): void => void calls.push({ ...call, output: kept(output, redact) }),
        failed: (cause: unknown): void => {
          const { message, denied } = cause as { message: string; denied?: boolean };
          calls.push({ ...call, error: { message, ...(denied && { denied }) } });
        },
      };
    };
    const tape: Tape = {
      call: async (asked, real) => {
        const call = begun(asked);
        try {
          const output = await real();
          call.gave(written(output));
          return output;
        } catch (cause) {
          call.failed(cause);
          throw cause;
        }
      },
      note: (asked, output) => {
        const call = begun(asked);
        const end = (cause?: unknown): void => {
          if (!open.delete(end)) return;
          if (cause === undefined) call.gave(output());
          else call.failed(cause);
        };
        open.add(end);
        return end;
      },
    };
    const guarded = (turn as { readonly [LET_THROUGH]?: LetThrough | null })[LET_THROUGH];
    const ended = async (given: Pick<RecordedTurn, 'answer' | 'error'>): Promise<void> => {
      // Text that was held back is in no record either: the calls that may have brought it are left out.
      for (const over of open) over();
      const end = guarded && given.answer !== undefined ? { answer: await guarded.text() } : given;
      const shown = guarded?.touched ? calls.filter(({ kind }) => !RAW.has(kind)) : calls;
      const { runId, text: message, session, metadata } = turn;
      const isPlain = Object.keys(metadata).length === 0;
      try {
        await to({
          ...{ version: 1, sessionId: session.id, runId, message, calls: shown },
          ...(!isPlain && { metadata: kept(metadata, redact) as Turn['metadata'] }),
          ...end,
        });
      } catch (error) {
        onError?.(error);
      }
    };
    return { tape, ended };
  });
}

/** Appends runs to one file per session: `<folder>/<session>.ndjson`. */
export function recordInto(folder: string): (turn: RecordedTurn) => Promise<void> {
  return async (turn) => {
    await mkdir(folder, { recursive: true });
    await appendFile(
      join(folder, `${encodeURIComponent(turn.sessionId)}.ndjson`),
      `${JSON.stringify(turn)}\n`,
    );
  };
}

/** The tape of a run, with a callback for the end of the run. */
export interface RunTape {
  readonly tape: Tape;
  ended?(end: Pick<RecordedTurn, 'answer' | 'error'>): Promise<void>;
}

/** Puts a tape between an app and its calls. Replaces an earlier one. */
export function onTape<App extends Application>(given: App, tapeFor: (turn: Turn) => RunTape): App {
  const app = ((given as { [INNER]?: App })[INNER] ?? given) as App;
  const tools = Object.entries((app.tools ?? {}) as Record<string, AnyTool>).map(([name, tool]) => [
    name,
    taped(name, tool),
  ]);
  return Object.assign(
    defineApp({
      ...app,
      ...(app.tools && { tools: Object.fromEntries(tools) }),
      async *run(turn: Turn) {
        const { tape, ended } = tapeFor(turn);
        let answer = '';
        const pieces = within(tape, () => app.run(tapedTurn(turn, tape)));
        try {
          for (;;) {
            const { done, value } = await pieces.next();
            if (!done) {
              answer += typeof value === 'string' ? value : value.type === 'content_delta' ? value.delta : '';
              yield value;
              continue;
            }
            await ended?.({ answer: answer + (typeof value === 'string' ? value : (value?.text ?? '')) });
            return value;
          }
        } catch (error) {
          await ended?.({ error: { message: String((error as Error)?.message ?? error) } });
          throw error;
        } finally {
          await pieces.return(undefined);
        }
      },
    }),
    { [INNER]: app },
  ) as unknown as App;
}

type Result = string | AppResult | undefined;

/** Yields the output of an app, with the tape set in its async context. */
async function* within(
  tape: Tape,
  run: () => ReturnType<Application['run']>,
): AsyncGenerator<string | AppEvent, Result, void> {
  const output = await tapes.run(tape, async () => run());
  if (typeof output !== 'object' || output === null || !(Symbol.asyncIterator in output))
    return output as Result;
  const iterator = tapes.run(tape, () => output[Symbol.asyncIterator]());
  try {
    for (;;) {
      const step = await tapes.run(tape, () => iterator.next());
      if (step.done) return step.value as Result;
      yield step.value;
    }
  } finally {
    await tapes.run(tape, () => iterator.return?.(undefined));
  }
}

function tapedTurn(turn: Turn, tape: Tape): Turn {
  return {
    ...turn,
    step: (name, work) =>
      turn.step(name, (step) => tape.call({ kind: 'step', name, input: null }, async () => work(step))),
    ask: (question: Parameters<Turn['ask']>[0]) =>
      tape.call(asked('ask', question.name, question.payload), () => turn.ask(question)),
    confirm: (request) =>
      tape.call(asked('confirm', request.name, request.input), () => turn.confirm(request)),
  } as Turn;
}

const asked = (kind: 'ask' | 'confirm', name: string, input: unknown): Call => ({
  kind,
  name,
  input: input ?? null,
});

function taped(name: string, tool: AnyTool): AnyTool {
  const { handler } = tool as { readonly handler?: (...args: unknown[]) => unknown };
  if (!handler) return tool;
  const through = (input: unknown, context: unknown): unknown => {
    const tape = tapes.getStore();
    if (!tape) return handler(input, context);
    return tape.call({ kind: 'tool', name, input }, async () => handler(input, context));
  };
  return { ...tool, handler: through } as AnyTool;
}

/** Marks a tool's result that has its own content, to tell it from other objects. */
const written = (output: unknown): unknown =>
  typeof output === 'object' && output !== null && RESULT in output ? { toolResult: output } : output;

/** The tool output of a recorded value. */
export function readOutput(output: unknown): unknown {
  const result = (output as { readonly toolResult?: ToolOutput } | null | undefined)?.toolResult;
  return result ? toolResult(result) : output;
}
