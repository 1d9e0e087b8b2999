import { type App, type AppEvent, defineApp, type ToolSet, type Turn, type Usage } from '../server/index.js';

/** A piece of an answer that a test writes. A string is text. */
export type ScriptStep =
  | string
  /** Calls a tool of the app, and goes on whatever comes of it. */
  | { readonly tool: string; readonly input?: unknown }
  /** Asks the person, as `turn.ask`. */
  | { readonly ask: string; readonly payload?: unknown }
  | { readonly reasoning: string }
  /** A data block, as `turn.data`. */
  | { readonly data: string; readonly value: unknown }
  /** Waits, by the clock of the test where it holds one. */
  | { readonly waitMs: number }
  /** Waits until the test lets it go on. */
  | { readonly until: PromiseLike<unknown> }
  | { readonly usage: Usage }
  /** The run fails; the text is for the log alone. */
  | { readonly fail: string }
  /** Any event, as an app yields it. */
  | AppEvent;

/** One answer. */
export type Script = readonly ScriptStep[];

/** What a scripted app has beside its words. */
export interface ScriptedOptions<Tools extends ToolSet = ToolSet> {
  readonly tools?: Tools | undefined;
  /** Whether a run that was interrupted goes on behind what it has said, and the tools that have a result. @default false */
  readonly resumable?: boolean | undefined;
}

/**
 * An app that says what a test has written.
 *
 * @param script One answer, given to every message; several, one for each message of a session, the last of them to all that follow; or a
 * function of the turn.
 *
 * @example
 * ```ts
 * const gateway = await testGateway({ app: scripted([['Hello, ', 'Ada.'], [{ fail: 'the model is down' }]]) });
 * ```
 */
export function scripted<const Tools extends ToolSet = Readonly<Record<never, never>>>(
  script: Script | readonly Script[] | ((turn: Turn) => Script),
  { tools, resumable = false }: ScriptedOptions<Tools> = {},
): App<Tools> {
  return defineApp<Tools>({
    ...(tools && { tools }),
    resumable,
    async *run(turn) {
      const left = { chars: 0, tools: 0 };
      for (const block of turn.resumed?.content ?? []) {
        if (block.type === 'text') left.chars += block.text.length;
        if (block.type === 'tool_result') left.tools += 1;
      }
      for (const step of scriptOf(script, turn as Turn)) {
        if (typeof step === 'string') {
          const done = Math.min(left.chars, step.length);
          left.chars -= done;
          if (done < step.length) yield step.slice(done);
        } else if ('tool' in step && left.tools > 0) left.tools -= 1;
        else yield* play(step, turn as Turn);
      }
    },
  });
}

function scriptOf(script: Parameters<typeof scripted>[0], turn: Turn): Script {
  if (typeof script === 'function') return script(turn);
  if (!script.some(Array.isArray)) return script as Script;
  const answers = script as readonly Script[];
  const before = turn.history.filter(({ role }) => role === 'user').length;
  return answers[Math.min(before, answers.length - 1)] ?? [];
}

async function* play(step: Exclude<ScriptStep, string>, turn: Turn): AsyncGenerator<AppEvent> {
  if ('type' in step) yield step;
  else if ('tool' in step)
    await turn.callTool(step.tool, step.input ?? {}).catch(() => turn.signal.throwIfAborted());
  else if ('ask' in step)
    await turn.ask({ name: step.ask, ...('payload' in step && { payload: step.payload }) });
  else if ('reasoning' in step) yield { type: 'reasoning_delta', delta: step.reasoning };
  else if ('data' in step) turn.data(step.data, step.value);
  else if ('waitMs' in step) await passed(step.waitMs, turn.signal);
  else if ('until' in step) await step.until;
  else if ('usage' in step) turn.usage(step.usage);
  else throw new Error(step.fail);
}

/** By the global timers, which tests hold. */
function passed(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}
