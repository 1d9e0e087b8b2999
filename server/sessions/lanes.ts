import { isDeepStrictEqual } from 'node:util';
import { fieldError, GatewayError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import type { LaneRun, SessionState } from '../../shared/fold.js';
import type { Message, SendInput } from '../../shared/messages.js';
import type { RunResult } from '../../shared/operation-types.js';
import { type Application, MAX_STEP_NAME } from '../apps/application.js';
import type { SpawnOptions } from '../apps/child.js';
import { rootContext } from '../async/async-context.js';
import { newRunId } from '../ids.js';
import { LimitError } from '../limit-error.js';
import { eventsOfRun } from '../log/events-of-run.js';
import type { LogWriter } from '../log/log-writer.js';
import { asUnavailable, unavailable } from '../log/unavailable.js';
import { type ChildPort, LiveChild } from '../runs/child.js';
import { isOpen, laneOf } from '../runs/ending.js';
import { type LaneRequest, LiveRun, type RunRequest } from '../runs/live-run.js';
import { InheritedQuestion, Resumption } from '../runs/resumption.js';
import type { Overseer } from '../runs/run-port.js';
import { type RunRecord, StoreError } from '../stores/store.js';
import { toMessage } from './message-sender.js';
import { type LeftRuns, toNewRun } from './run-record.js';
import type { SessionRuns } from './session-runs.js';

/** A turn's call for a child. */
export interface Spawning extends SpawnOptions {
  readonly app: string;
  readonly id: string;
}

/** The runs beside the conversation of one session: children of other runs, and runs in lanes of their own. */
export class Lanes {
  /** Those that no parent ends: lanes of people, and detached children. */
  readonly roots = new Set<LiveRun>();
  readonly #runs: SessionRuns;
  /** Runs beside the conversation under way here, by id. */
  readonly #live = new Map<string, LiveRun>();
  /** The runs that a former process left, until they are taken up. */
  #left: LeftRuns | null = null;
  /** Readers of events that wait for more. */
  #readers: Set<() => void> | null = null;

  constructor(runs: SessionRuns) {
    this.#runs = runs;
  }

  find(runId: string): LiveRun | null {
    return this.#live.get(runId) ?? null;
  }

  /** Number of runs beside the conversation under way here. */
  get size(): number {
    return this.#live.size;
  }

  remove(run: LiveRun): void {
    if (!this.#live.delete(run.id)) return;
    this.roots.delete(run);
    run.parent?.children.delete(run);
  }

  #add(run: LiveRun, parent: LiveRun | null): void {
    this.#live.set(run.id, run);
    if (parent && !run.request.lane!.detached) {
      run.parent = parent;
      parent.children.add(run);
    } else this.roots.add(run);
  }

  /** Tells readers of events that there may be more. */
  wake(): void {
    const readers = this.#readers;
    this.#readers = null;
    for (const wake of readers ?? []) wake();
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#readers ??= new Set();
      this.#readers.add(resolve);
    });
  }

  /**
   * Begins a child of a run, or joins the one of that id.
   *
   * @throws GatewayError `APP_NOT_FOUND`, `STEP_MISMATCH` if the child of that id was begun with another message or app
   * @throws LimitError `limits.childRuns`, `limits.childDepth`
   */
  spawn(parent: LiveRun, overseer: Overseer, asked: Spawning): LiveChild {
    const { env, session } = this.#runs;
    const log = session.writer;
    const { id, app: name, run } = asked;
    if (typeof id !== 'string' || id === '' || id.length > MAX_STEP_NAME)
      throw fieldError('id', `a text of 1 to ${MAX_STEP_NAME} characters`);
    if (!log || parent.state !== 'active') throw new DOMException('The run has ended', 'AbortError');
    const { resumable = false } = overseer.app;
    const app: Application = run ? { run, resumable } : env.app(name);
    const message = toMessage(asked.message);
    const held = overseer.children.get(id);
    if (held) {
      assertSame(id, held, { app: name, asked: message });
      return held;
    }
    const known = log.state.lanes?.find((lane) => lane.parentRunId === parent.id && lane.name === id);
    if (known) assertSame(id, known, { app: name, asked: message });
    else this.#assertRoom(parent);
    const by = { parent, overseer, app, log };
    const port = known ? this.#join(known, by) : this.#begin(message, asked, by);
    const child = new LiveChild(id, { app: name, asked: message }, port);
    overseer.children.set(id, child);
    return child;
  }

  /** @param parent Null for a lane of a person */
  #assertRoom(parent: LiveRun | null): void {
    const { childRuns, childDepth } = this.#runs.env;
    if (parent && depthUnder(parent) > childDepth)
      throw new LimitError('limits.childDepth', {
        code: 'QUOTA_EXCEEDED',
        message: `Child runs nest at most ${childDepth} deep`,
      });
    if (this.size >= childRuns)
      throw new LimitError('limits.childRuns', {
        code: 'QUOTA_EXCEEDED',
        message: `A session has at most ${childRuns} runs beside its conversation at a time`,
      });
  }

  #begin(message: Message, asked: Spawning, by: Spawner): ChildPort {
    const { parent, log } = by;
    const { id, app, detached, wakes, callId, tools = [], parameters = {} } = asked;
    const { user, trace, requestId } = parent.request;
    const lane: LaneRequest = {
      ...{ app, depth: depthUnder(parent), name: id, parentRunId: parent.id },
      ...(callId !== undefined && { callId }),
      ...(detached && { detached }),
      ...(detached && wakes && { wakes }),
    };
    const request: RunRequest = {
      ...{ runId: newRunId(), message, preceding: [], onBusy: 'queue', key: undefined, lane },
      ...{ user, trace, requestId, metadata: {}, clientTools: tools, parameters },
    };
    const run = new LiveRun(request, { context: parent.context });
    this.#add(run, parent);
    const begun = this.#store(run, log, (state) => isOpen(state, parent.id));
    begun.then(
      () => this.#execute(run, by)?.start(),
      (error: unknown) => {
        this.#runs.withdraw(run);
        run.reject(error as GatewayError);
      },
    );
    const place = begun.then((stored) => stored.place);
    return this.#portOf(run.id, run.ended, log, place);
  }

  /** Stores the beginning of a run. Resolves with its place. @param allowed Whether it may still begin */
  async #store(
    run: LiveRun,
    log: LogWriter,
    allowed: (state: SessionState) => boolean,
  ): Promise<{ readonly place: number; readonly duplicate?: RunRecord }> {
    let isRefused = false;
    const drafts = (state: SessionState): readonly EventDraft[] => {
      isRefused = !allowed(state);
      return isRefused ? [] : [spawned(run, state)];
    };
    try {
      const options = { opens: toNewRun(run.request), ends: [run], refusable: true };
      const { first: place, duplicate } = await log.commit(drafts, options);
      if (isRefused) throw new DOMException('The run has ended', 'AbortError');
      return { place, ...(duplicate && { duplicate }) };
    } catch (error) {
      throw error instanceof StoreError ? unavailable(error) : error;
    }
  }

  /** Makes what drives a run whose beginning is stored; null if it has ended meanwhile. */
  #execute(
    run: LiveRun,
    { overseer, app, log, resumption }: Omit<Spawner, 'parent'>,
  ): { start(): void } | null {
    if (run.state === 'ended') return null;
    run.state = 'active';
    const execution = this.#runs.execute(run, {
      ...this.#runs.port(run, log, app),
      ...(!run.request.lane!.detached && overseer && { overseer }),
    });
    if (resumption) execution.resume(resumption);
    return { start: () => this.#runs.letBegin(run, log) };
  }

  /** Takes up the child that a run has begun before. */
  #join(lane: LaneRun, by: Spawner): ChildPort {
    const { log } = by;
    const { runId, stopReason } = lane;
    const place = this.#placeOf(runId);
    const live = this.find(runId);
    if (live) return this.#portOf(runId, live.ended, log, place);
    if (stopReason) {
      const { message, error, usage } = lane;
      const result: RunResult = {
        ...{ runId, message, stopReason, cursor: log.view.cursor },
        ...(error && { error }),
        ...(usage && { usage }),
      };
      by.overseer?.answer.add(JSON.stringify(message.content).length);
      return this.#portOf(runId, Promise.resolve(result), log, place);
    }
    return this.#portOf(runId, this.#resume(lane, by).ended, log, place);
  }

  async #placeOf(runId: string): Promise<number> {
    const { env, session } = this.#runs;
    const record = await asUnavailable(() => env.store.run(session.ref, { runId }));
    return record?.accepted ?? 1;
  }

  /** Takes up a run that a former process left, or ends it as `lost`. */
  #resume(lane: LaneRun, by: Taking): LiveRun {
    const { app, log, parent } = by;
    const { runId, asked, message: resumed } = lane;
    const left = this.#left!;
    const run = new LiveRun(left.request({ runId, message: asked, onBusy: 'queue' }), {
      ...{ resumed, context: parent?.context ?? rootContext },
    });
    this.#add(run, parent);
    if (!app?.resumable) {
      void this.#runs.end(run, { stopReason: 'lost' });
      return run;
    }
    const pending = log.state.pending.filter((question) => question.runId === runId);
    const resumption = new Resumption(resumed, pending, left.steps(runId));
    const execution = this.#execute(run, { ...by, app, resumption });
    setImmediate(() => execution?.start());
    return run;
  }

  /** Takes up the runs that another process left. Children wait for their parents to call for them. */
  recover(log: LogWriter, left: LeftRuns): void {
    const open = (log.state.lanes ?? []).filter(({ stopReason }) => !stopReason);
    if (open.length === 0) return;
    this.#left = left;
    const { questions, env, session } = this.#runs;
    for (const { runId } of open)
      for (const question of log.state.pending)
        if (question.runId === runId) questions.add(new InheritedQuestion(runId, question));
    for (const lane of open) {
      if (lane.parentRunId !== undefined && !lane.detached) continue;
      this.#resume(lane, { parent: null, overseer: null, app: appOf(env.app, lane.app), log });
    }
    session.watch();
  }

  /** Takes up the runs that another process left, only to end them. */
  recoverToEnd(log: LogWriter, left: LeftRuns): void {
    for (const { runId, asked, stopReason, parentRunId, detached } of log.state.lanes ?? []) {
      if (stopReason || (parentRunId !== undefined && !detached)) continue;
      const run = new LiveRun(left.request({ runId, message: asked, onBusy: 'queue' }), {
        context: rootContext,
      });
      run.state = 'queued';
      this.#add(run, null);
    }
  }

  /** Begins a run that a person asked for in a lane of its own, unless its key began one before. */
  async accept(
    request: RunRequest,
    log: LogWriter,
  ): Promise<{ readonly place: number } | { readonly duplicate: RunRecord }> {
    this.#assertRoom(null);
    const run = new LiveRun(request);
    this.#add(run, null);
    try {
      const { place, duplicate } = await this.#store(run, log, ({ control }) => {
        if (control) throw new GatewayError({ code: 'TAKEN_OVER', details: { by: control.by } });
        return true;
      });
      if (duplicate) {
        this.#runs.withdraw(run);
        return { duplicate };
      }
      const app = this.#runs.env.app(request.lane!.app);
      this.#execute(run, { overseer: null, app, log })?.start();
      return { place };
    } catch (error) {
      this.#runs.withdraw(run);
      throw error;
    }
  }

  /** Logs a message for a run beside the conversation. @throws GatewayError `RUN_NOT_FOUND` */
  async steer(runId: string, message: Message): Promise<void> {
    const log = this.#runs.session.writer;
    if (!log) throw new GatewayError({ code: 'SESSION_CLOSED', retryAfterMs: 100 });
    const drafts = (state: SessionState): readonly EventDraft[] => {
      const lane = laneOf(state, runId);
      // Sent again, because its first answer was lost.
      if (lane?.steering?.some(({ id }) => id === message.id)) return [];
      if (!lane || !isOpen(state, runId)) throw new GatewayError({ code: 'RUN_NOT_FOUND' });
      return [{ type: 'run_steered', runId, ts: Date.now(), message }];
    };
    try {
      await log.commit(drafts, { refusable: true });
    } catch (error) {
      throw error instanceof StoreError ? unavailable(error) : error;
    }
  }

  /** Takes the messages for a run beside the conversation. */
  takeSteered(run: LiveRun, log: LogWriter): readonly Message[] {
    const { steering = [] } = laneOf(log.state, run.id) ?? {};
    const fresh = steering.filter(({ id, taken }) => !taken && !run.taken.has(id));
    for (const { id: messageId } of fresh) {
      run.taken.add(messageId);
      log.append({ type: 'steer', runId: run.id, ts: Date.now(), messageId, consumed: true });
    }
    return fresh;
  }

  #portOf(runId: string, ended: Promise<RunResult>, log: LogWriter, place: Promise<number>): ChildPort {
    place.catch(() => {});
    const { session } = this.#runs;
    const more = (): Promise<void> => this.#more();
    const over = (): boolean => session.writer !== log;
    return {
      ...{ runId, ended },
      events: () => eventsOfRun(log.view, runId, { sessionId: session.id, place, more, over }),
      steer: (message: SendInput) => place.then(() => this.steer(runId, toMessage(message))),
      abort: (reason) => void this.#runs.abort(runId, reason).catch(() => {}),
    };
  }
}

/** The parts with which a run that was left is taken up. It is lost without its app. */
type Taking = Omit<Spawner, 'parent' | 'app'> & {
  readonly parent: LiveRun | null;
  readonly app: Application | undefined;
};

/** The parts with which a run begins or is taken up. */
interface Spawner {
  readonly parent: LiveRun;
  readonly overseer: Overseer | null;
  readonly app: Application;
  readonly log: LogWriter;
  readonly resumption?: Resumption;
}

const depthUnder = ({ request }: LiveRun): number => (request.lane?.depth ?? 0) + 1;

function appOf(app: (name: string) => Application, name: string): Application | undefined {
  try {
    return app(name);
  } catch {
    // This gateway does not serve it any more.
    return undefined;
  }
}

/** @throws GatewayError `STEP_MISMATCH` */
function assertSame(id: string, begun: Begun, now: Begun): void {
  const json = ({ asked: { content } }: Begun): unknown => JSON.parse(JSON.stringify(content));
  if (begun.app === now.app && isDeepStrictEqual(json(begun), json(now))) return;
  throw new GatewayError({
    code: 'STEP_MISMATCH',
    message: `The child ${JSON.stringify(id)} of this run was begun with another message or app`,
    details: { id, app: begun.app },
  });
}

/** The app and the message of a child. */
type Begun = Pick<LiveChild, 'app' | 'asked'>;

/** The beginning of a run, in the first lane that no run of the state has. */
function spawned({ id: runId, messageId, request }: LiveRun, { lanes = [] }: SessionState): EventDraft {
  const { message, key, metadata } = request;
  const { app, depth: _, ...place } = request.lane!;
  const lane = 1 + Math.max(0, ...lanes.map((each) => each.lane));
  return {
    ...{ type: 'run_spawned', runId, ts: Date.now(), messageId, app, lane, ...place, message },
    ...(key !== undefined && { key }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}
