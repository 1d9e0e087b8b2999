import { type App, type AppEvent, defineApp, type ToolSet, type Turn, type Usage } from '../server/index.js';

/** A piece of a scripted answer. A string is text. */
export type ScriptStep =
  | string
  /** Calls a tool of the app, and continues even if it fails. */
  | { readonly tool: string; readonly input?: unknown }
  /** Asks the person, like `turn.ask`. */
  | { readonly ask: string; readonly payload?: unknown }
  | { readonly reasoning: string }
  /** Writes a data block, like `turn.data`. */
  | { readonly data: string; readonly value: unknown }
  /** Waits, by the clock of the test if it has one. */
  | { readonly waitMs: number }
  /** Waits until the test resolves the promise. */
  | { readonly until: PromiseLike<unknown> }
  | { readonly usage: Usage }
  /** Fails the run. The text goes only to the log. */
  | { readonly fail: string }
  /** Yields any event of an app. */
  | AppEvent;

/** One answer. */
export type Script = readonly ScriptStep[];

/** Options of `scripted`. */
export interface ScriptedOptions<Tools extends ToolSet = ToolSet> {
  readonly tools?: Tools | undefined;
  /** Whether an interrupted run continues after the text and the tool results that it already has. @default false */
  readonly resumable?: boolean | undefined;
}

/**
 * Makes an app that plays a script.
 *
 * @param script One answer to every message; or a list of answers to a session's messages, the last of which repeats; or a function of the turn.
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
      for (const step of scriptOf(script, turn as Turn)) {
        if (typeof step === 'string') yield step;
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

/** Uses the global timers, which `holdClock` replaces. */
function passed(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}
