import { isDeepStrictEqual } from 'node:util';
import type { EventDraft } from '../../shared/events.js';
import type { LaneRun } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import type { RunResult } from '../../shared/operation-types.js';
import { pick } from '../../shared/pick.js';
import type { Variants } from '../../shared/variants/contract.js';
import type { Application } from '../apps/application.js';
import { rootContext } from '../async/async-context.js';
import type { StoredFile } from '../files/stored-file.js';
import type { GuardPolicy } from '../guard/policy.js';
import type { LogRef } from '../stores/stored.js';
import { goesOnBy } from './alone.js';
import { LiveChild } from './child.js';
import { Execution } from './execution.js';
import type { FormerRetraction } from './former-answer.js';
import { LiveRun, type RunRequest } from './live-run.js';
import { type AheadOfRun, type Mismatch, Rehearsal } from './rehearsal.js';
import { type FormerQuestion, Resumption } from './resumption.js';
import type { RunPort } from './run-port.js';
import { toMessage } from './to-message.js';

/** All that a rehearsal needs to know of a run. Plain JSON, so that another process can rehearse it. */
export interface RehearsedRun extends AheadOfRun {
  readonly runId: string;
  readonly sessionId: string;
  readonly epoch: string;
  readonly title?: string;
  /** The variants of the session, and the key that decides others. */
  readonly variants?: Variants;
  readonly ref: LogRef;
  /** The app of its session, and the app and version of the run. */
  readonly sessionApp: string;
  readonly app: string;
  readonly version?: string;
  readonly request: RunRequest;
  /** Its message with its place; null for a run beside the conversation. */
  readonly placed: Message | null;
  readonly answer: Message;
  readonly history: readonly Message[];
  readonly answered: readonly FormerQuestion[];
  readonly taken?: readonly FormerRetraction[];
  /** The children that it has begun. */
  readonly children: readonly LaneRun[];
}

/** The surroundings of a rehearsal. */
export interface RehearsalOptions {
  /** The longest time that it may take, in milliseconds. */
  readonly ms: number;
  readonly gatewayId: string;
  /** The guards of the app. @default none */
  readonly guard?: GuardPolicy | null | undefined;
  now(): number;
  file(fileId: string): Promise<StoredFile>;
}

/** Calls an app with effects off, to see whether it comes to where a run is. Null if it does. Never rejects. */
export async function rehearse(
  app: Application,
  given: RehearsedRun,
  options: RehearsalOptions,
): Promise<Mismatch | null> {
  const rehearsal = new Rehearsal(given, options.ms);
  const { request, placed, answer, history, pending, steps, answered, taken = [] } = given;
  const run = new LiveRun(request, { resumed: answer, context: rootContext });
  run.placed = placed;
  run.state = 'active';
  const execution = new Execution(run, portOf(app, given, rehearsal, options));
  const goesOn = goesOnBy(app, request);
  const resumption = new Resumption(answer, pending, { steps, goesOn });
  // An app that goes on from a place of its own has all answers before it.
  resumption.learn({
    answered: goesOn && !resumption.place ? [] : answered,
    taken: goesOn ? [] : taken,
  });
  execution.resume(resumption);
  run.context(() => execution.start(() => history));
  const outcome = await rehearsal.outcome;
  run.state = 'ended';
  execution.seal();
  execution.release({ stopReason: 'lost', reason: 'the rehearsal is over' });
  return outcome;
}

/** The surroundings of a run in which nothing has an effect. */
function portOf(
  app: Application,
  given: RehearsedRun,
  rehearsal: Rehearsal,
  { gatewayId, guard = null, now, file }: RehearsalOptions,
): RunPort {
  const { sessionId: id, sessionApp, epoch, title } = given;
  const never = Number.POSITIVE_INFINITY;
  const nothing = (): void => {};
  const view = { head: 0, state: { variants: given.variants }, ref: given.ref } as RunPort['log']['view'];
  const heard = (draft: EventDraft): number => {
    if (draft.type === 'content_delta') {
      const { other } = run.answer;
      if (other) rehearsal.differs({ what: 'text', ...other });
      else void rehearsal.meets({ what: 'text', name: draft.delta });
    } else if (draft.type === 'tool_use') void rehearsal.meets({ what: 'tool', name: draft.name });
    return 0;
  };
  const run = {
    // Set by the scope of the run, which is made of this.
    answer: { other: null } as { readonly other: { readonly before: string; readonly now: string } | null },
  };
  return {
    setting: {
      ...{ gatewayId, app, guard, session: { id, app: sessionApp, epoch, title } },
      ...{
        runMs: never,
        waitMs: never,
        answerSize: never,
        stepsSize: never,
        summaryLength: never,
        variantsPerSession: never,
        parkMs: never,
      },
    },
    rehearsal,
    rehearses: (answer) => {
      run.answer = answer;
    },
    log: {
      append: heard,
      gather: (piece) => void heard(piece),
      commit: async () => ({ first: 0, last: 0 }),
      ...{ gathering: null, stalled: false, pending: false, view },
      settled: () => undefined,
      flowing: async () => {},
    },
    questions: { add: nothing, isOfOther: () => false },
    now,
    vote: () => new Promise(() => {}),
    file,
    priced: (usage) => usage,
    steered: () => [],
    spawn: (_, asked) => spawned(given, rehearsal, asked),
    ...{ publish: nothing, emit: nothing, title: nothing, park: nothing, report: nothing, warn: nothing },
    end: ({ stopReason, error }) => {
      if (stopReason === 'error')
        rehearsal.differs({ what: 'error', now: error?.message ?? 'the app failed' });
      else void rehearsal.meets({ what: 'end', name: 'the end' });
    },
  };
}

/** A child as it was begun: with its result, or one that never comes. */
function spawned(
  { children }: RehearsedRun,
  rehearsal: Rehearsal,
  { id, app, message: given }: Parameters<RunPort['spawn']>[1],
): LiveChild {
  const asked = toMessage(given);
  const known = children.find(({ name }) => name === id);
  const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
  if (known && !(known.app === app && isDeepStrictEqual(json(known.asked.content), json(asked.content))))
    rehearsal.differs({ what: 'child', before: `${id} (${known.app})`, now: `${id} (${app})` });
  const { stopReason, message, error } = known ?? {};
  const ended = stopReason
    ? Promise.resolve({
        ...{ runId: known!.runId, message: message!, stopReason, cursor: '' },
        ...(error && { error }),
        ...pick(known!, 'usage', 'totalUsage'),
      } satisfies RunResult)
    : rehearsal.meets({ what: 'child', name: id });
  return new LiveChild(
    id,
    { app, asked },
    {
      ...{ runId: known?.runId ?? id, ended },
      events: async function* () {
        await ended.then(() => {});
      },
      steer: async () => {},
      abort: () => {},
    },
  );
}
