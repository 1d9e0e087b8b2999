import { isDeepStrictEqual } from 'node:util';
import { fieldError, GatewayError } from '../../shared/errors.js';
import type { LaneRun } from '../../shared/fold.js';
import type { Message, SendInput } from '../../shared/messages.js';
import type { RunResult } from '../../shared/operation-types.js';
import { pick } from '../../shared/pick.js';
import type { Application } from '../apps/application.js';
import type { SpawnOptions } from '../apps/child.js';
import { judgeMessage } from '../guard/guards.js';
import type { GuardPolicy } from '../guard/policy.js';
import { givenId, newRunId } from '../ids.js';
import { eventsOfRun } from '../log/events-of-run.js';
import { asUnavailable } from '../log/unavailable.js';
import { type ChildPort, LiveChild } from '../runs/child.js';
import { isOpen } from '../runs/ending.js';
import { depthUnder, type LaneRequest, LiveRun, type RunRequest } from '../runs/live-run.js';
import { RunOver } from '../runs/run-over.js';
import type { Overseer } from '../runs/run-port.js';
import { toMessage } from '../runs/to-message.js';
import type { HeldSession } from './held-session.js';
import type { Spawner } from './lanes.js';
import { steer } from './steering.js';

/** A turn's call for a child. */
export interface SpawnCall extends SpawnOptions {
  readonly app: string;
  readonly id: string;
}

/**
 * Begins a child of a run, or joins the one of that id.
 *
 * @throws GatewayError `APP_NOT_FOUND`, `STEP_MISMATCH` if the child of that id was begun with another message or app
 * @throws LimitError `limits.childRuns`, `limits.childDepth`; GatewayError `PAYLOAD_TOO_LARGE` beyond `limits.answerSize`
 */
export function spawn(held: HeldSession, parent: LiveRun, overseer: Overseer, asked: SpawnCall): LiveChild {
  const { env, log } = held;
  const { lanes } = held.runs;
  const { id, app: name, run } = asked;
  givenId(id, 'id');
  if (asked.callId !== undefined) givenId(asked.callId, 'callId');
  if (!asked.message) throw fieldError('message', 'must be a text, content blocks or a message');
  if (held.over || parent.state !== 'active') throw new RunOver();
  const { resumable = false, guard } = overseer.app;
  const app: Application = run ? { run, resumable, guard } : env.app(name);
  const message = toMessage(asked.message);
  const says = judged(env.guardOf(app), parent);
  const joined = overseer.children.get(id);
  if (joined) {
    assertSame(id, joined, { app: name, asked: message });
    return joined;
  }
  const known = log.state.lanes?.find((lane) => lane.parentRunId === parent.id && lane.name === id);
  // The state has it until the parent ends, whatever the child says.
  const size = JSON.stringify(message).length;
  // A guard may have had it say something else.
  if (known) assertSame(id, known, { app: name, asked: says ? known.asked : message });
  else {
    lanes.assertRoom(parent);
    overseer.answer.assertRoom(size);
  }
  overseer.answer.add(size);
  const by = { parent, overseer, app };
  const port = known ? join(held, known, by, says) : begin(held, message, asked, by, says);
  const child = new LiveChild(id, { app: name, asked: message }, port);
  overseer.children.set(id, child);
  return child;
}

/** Has the guards of a child check what its parent tells it, as what people say to its app. */
type Says = (message: Message) => Promise<Message>;

/** @returns null where nothing is checked */
function judged(policy: GuardPolicy | null, { request: { user } }: LiveRun): Says | null {
  return policy?.guards('message') ? (message) => judgeMessage(policy, message, user) : null;
}

function begin(
  held: HeldSession,
  message: Message,
  asked: SpawnCall,
  by: Spawner,
  says: Says | null,
): ChildPort {
  const { runs } = held;
  const { lanes } = runs;
  const { parent } = by;
  const { id, app, run: inline, detached, wakes, callId, tools = [], parameters = {} } = asked;
  const { user, grant, trace, requestId } = parent.request;
  const lane: LaneRequest = {
    ...{ app, depth: depthUnder(parent), name: id, parentRunId: parent.id },
    ...(callId !== undefined && { callId }),
    ...(inline && { inline: true as const }),
    ...(detached && { detached }),
    ...(detached && wakes && { wakes }),
  };
  const request: { -readonly [Name in keyof RunRequest]: RunRequest[Name] } = {
    ...{ runId: newRunId(), message, preceding: [], onBusy: 'queue', key: undefined, lane },
    ...{ user, grant, trace, requestId, metadata: {}, clientTools: tools, parameters },
  };
  const run = new LiveRun(request, { context: parent.context });
  lanes.add(run, parent);
  const store = () => lanes.store(run, (state) => isOpen(state, parent.id));
  const begun = says
    ? says(message).then((said) => {
        request.message = said;
        return store();
      })
    : store();
  begun.then(
    () => lanes.execute(run, by)?.start(),
    (error: unknown) => {
      runs.withdraw(run);
      run.reject(error as GatewayError);
    },
  );
  const place = begun.then((stored) => stored.place);
  return childPort(held, run.id, { ended: run.ended, place, says });
}

/** Takes up the child that a run has begun before. */
function join(held: HeldSession, lane: LaneRun, by: Spawner, says: Says | null): ChildPort {
  const { lanes } = held.runs;
  const { runId, stopReason } = lane;
  const place = placeOf(held, runId);
  const live = lanes.joinable(runId);
  if (live) return childPort(held, runId, { ended: live.ended, place, says });
  if (stopReason) {
    const { message, error } = lane;
    const result: RunResult = {
      ...{ runId, message, stopReason, cursor: held.log.view.cursor },
      ...(error && { error }),
      ...pick(lane, 'usage', 'totalUsage'),
    };
    by.overseer?.answer.add(JSON.stringify(message.content).length);
    return childPort(held, runId, { ended: Promise.resolve(result), place, says });
  }
  return childPort(held, runId, { ended: lanes.resume(lane, by).ended, place, says });
}

/** The place of the first event of a run. */
async function placeOf({ store, ref }: HeldSession, runId: string): Promise<number> {
  const record = await asUnavailable(() => store.run(ref, { runId }));
  return record?.accepted ?? 1;
}

function childPort(
  held: HeldSession,
  runId: string,
  {
    ended,
    place,
    says,
  }: { readonly ended: Promise<RunResult>; readonly place: Promise<number>; readonly says: Says | null },
): ChildPort {
  place.catch(() => {});
  const { id: sessionId, log, runs } = held;
  const more = () => runs.lanes.more();
  const over = (): boolean => held.over;
  return {
    ...{ runId, ended },
    events: () => eventsOfRun(log.view, runId, { sessionId, place, more, over }),
    steer: async (input: SendInput) => {
      const message = toMessage(input);
      await place;
      await steer(held, runId, says ? await says(message) : message);
    },
    abort: (reason) => void runs.abort(runId, reason).catch(() => {}),
  };
}

/** @throws GatewayError `STEP_MISMATCH` */
function assertSame(id: string, begun: BegunChild, now: BegunChild): void {
  const json = ({ asked: { content } }: BegunChild): unknown => JSON.parse(JSON.stringify(content));
  if (begun.app === now.app && isDeepStrictEqual(json(begun), json(now))) return;
  throw new GatewayError({
    code: 'STEP_MISMATCH',
    message: `The child ${JSON.stringify(id)} of this run was begun with another message or app`,
    details: { id, app: begun.app },
  });
}

/** The app and the message of a child. */
type BegunChild = Pick<LiveChild, 'app' | 'asked'>;
