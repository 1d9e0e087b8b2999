import { GatewayError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import type { LaneRun, SessionState } from '../../shared/fold.js';
import type { Application } from '../apps/application.js';
import { rootContext } from '../async/async-context.js';
import { LimitError } from '../limit-error.js';
import type { LogBatch } from '../log/batch.js';
import { commitPlan, type Plan } from '../log/plan.js';
import { asUnavailable } from '../log/unavailable.js';
import { depthUnder, LiveRun, type RunRequest } from '../runs/live-run.js';
import { InheritedQuestion, type Resumption } from '../runs/resumption.js';
import { RunOver } from '../runs/run-over.js';
import type { Overseer } from '../runs/run-port.js';
import type { RunRecord } from '../stores/stored.js';
import type { HeldSession } from './held-session.js';
import { portOf } from './port.js';
import { type LeftRuns, toNewRun } from './run-record.js';
import { goOn, takenUp } from './taking-up.js';

/** The runs beside the conversation of one session: children of other runs, and runs in lanes of their own. */
export class Lanes {
  /** Those that no parent ends: lanes of people, and detached children. */
  readonly roots = new Set<LiveRun>();
  readonly #held: HeldSession;
  /** Runs beside the conversation under way here, by id. */
  readonly #live = new Map<string, LiveRun>();
  /** Those that are over here, until the store has their ends. The state has them as open runs until then. */
  readonly #ending = new Map<string, LiveRun>();
  /** The runs that a former process left, until they are taken up. */
  #left: LeftRuns | null = null;
  /** Readers of events that wait for more. */
  #readers: ((batch?: LogBatch) => void)[] = [];

  constructor(held: HeldSession) {
    this.#held = held;
  }

  find(runId: string): LiveRun | null {
    return this.#live.get(runId) ?? null;
  }

  /** A run beside the conversation that is driven here, or is over here and not yet in the state. */
  joinable(runId: string): LiveRun | null {
    return this.find(runId) ?? this.#ending.get(runId) ?? null;
  }

  /** Number of runs beside the conversation under way here. */
  get size(): number {
    return this.#live.size;
  }

  remove(run: LiveRun): void {
    if (!this.#live.delete(run.id)) return;
    // One that never began has no end to come.
    if (run.state === 'ended') this.#ending.set(run.id, run);
    this.roots.delete(run);
    run.parent?.forget(run);
  }

  /** Forgets a run that is over, once the state says so. */
  forget(run: LiveRun): void {
    this.#ending.delete(run.id);
  }

  /** Notes a run that begins or is taken up here. */
  add(run: LiveRun, parent: LiveRun | null): void {
    this.#live.set(run.id, run);
    this.#held.tenure.begins();
    if (parent && !run.request.lane!.detached) parent.adopt(run);
    else this.roots.add(run);
  }

  /** Tells readers of events of a batch that was committed, or that the log is no longer written here. */
  wake(batch?: LogBatch): void {
    if (this.#readers.length > 0) for (const wake of this.#readers.splice(0)) wake(batch);
  }

  /** Resolves with the next batch. */
  more(): Promise<LogBatch | undefined> {
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  /** @param parent Null for a lane of a person. @throws LimitError `limits.childRuns`, `limits.childDepth` */
  assertRoom(parent: LiveRun | null): void {
    const { childRuns, childDepth } = this.#held.env.limits;
    if (parent && depthUnder(parent) > childDepth)
      throw new LimitError('limits.childDepth', {
        code: 'QUOTA_EXCEEDED',
        message: `Child runs can nest at most ${childDepth} deep`,
      });
    if (this.size >= childRuns)
      throw new LimitError('limits.childRuns', {
        code: 'QUOTA_EXCEEDED',
        message: `A session can have at most ${childRuns} runs beside its conversation; wait until one ends`,
      });
  }

  /** Stores the beginning of a run. Resolves with its place. @param allowed Whether it may still begin */
  async store(
    run: LiveRun,
    allowed: (state: SessionState) => boolean,
  ): Promise<{ readonly place: number; readonly duplicate?: RunRecord }> {
    const { inline, app } = run.request.lane!;
    const version = inline ? undefined : this.#held.env.app(app).version;
    const make = (state: SessionState): Plan => ({
      events: allowed(state) ? [spawned(run, state, version)] : [],
    });
    const options = { opens: toNewRun(run.request), refusable: true };
    const { plan, committed } = await asUnavailable(() => commitPlan(this.#held.log, make, options));
    if (plan.events.length === 0) throw new RunOver();
    const { first: place, duplicate } = committed;
    return { place, ...(duplicate && { duplicate }) };
  }

  /** Makes what drives a run whose beginning is stored; null if it has ended meanwhile. */
  execute(run: LiveRun, { overseer, app, resumption }: Omit<Spawner, 'parent'>): { start(): void } | null {
    if (run.state === 'ended') return null;
    run.state = 'active';
    const { runs } = this.#held;
    const execution = runs.execute(run, {
      ...portOf(this.#held, run, app),
      ...(!run.request.lane!.detached && overseer && { overseer }),
    });
    if (resumption) execution.resume(resumption);
    return { start: () => runs.letBegin(run) };
  }

  /** Takes up a run that a former process left, or ends it as `lost`. */
  resume(lane: LaneRun, by: TakeUp): LiveRun {
    const { runs } = this.#held;
    const { app, parent } = by;
    const { runId, asked, message: resumed } = lane;
    const left = this.#left!;
    const run = new LiveRun(left.request({ runId, message: asked, onBusy: 'queue' }), {
      ...{ resumed, context: parent?.context ?? rootContext },
    });
    this.add(run, parent);
    if (!app?.resumable) {
      void runs.end(run, { stopReason: 'lost' });
      return run;
    }
    const taken = takenUp(this.#held, run, { left, app });
    const { resumption } = taken;
    if (this.execute(run, { ...by, app, resumption })) goOn(this.#held, taken);
    return run;
  }

  /** Takes up the runs that another process left. Children wait for their parents to call for them. */
  recover(left: LeftRuns): void {
    const { log, env, runs } = this.#held;
    const open = (log.state.lanes ?? []).filter(({ stopReason }) => !stopReason);
    if (open.length === 0) return;
    this.#left = left;
    for (const { runId } of open)
      for (const question of log.state.pending)
        if (question.runId === runId) runs.questions.add(new InheritedQuestion(runId, question));
    for (const lane of open) {
      if (lane.parentRunId !== undefined && !lane.detached) continue;
      const isInline = left.lane(lane.runId)?.inline ?? false;
      const app = isInline ? undefined : appOf(env.app, lane.app);
      this.resume(lane, { parent: null, overseer: null, app });
    }
  }

  /** Takes up the runs that another process left, only to end them. */
  recoverToEnd(left: LeftRuns): void {
    for (const { runId, asked, stopReason, parentRunId, detached } of this.#held.log.state.lanes ?? []) {
      if (stopReason || (parentRunId !== undefined && !detached)) continue;
      const run = new LiveRun(left.request({ runId, message: asked, onBusy: 'queue' }), {
        context: rootContext,
      });
      run.state = 'queued';
      this.add(run, null);
    }
  }

  /** Begins a run that a person asked for in a lane of its own, unless its key began one before. */
  async accept(request: RunRequest): Promise<{ readonly place: number } | { readonly duplicate: RunRecord }> {
    const { runs, env, mayStart } = this.#held;
    if (!mayStart) throw new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: 1000 });
    this.assertRoom(null);
    const run = new LiveRun(request);
    this.add(run, null);
    try {
      const { place, duplicate } = await this.store(run, ({ control }) => {
        if (control) throw new GatewayError({ code: 'TAKEN_OVER', details: { by: control.by } });
        return true;
      });
      if (duplicate) {
        runs.withdraw(run);
        return { duplicate };
      }
      this.execute(run, { overseer: null, app: env.app(request.lane!.app) })?.start();
      return { place };
    } catch (error) {
      runs.withdraw(run);
      throw error;
    }
  }
}

/** The parts with which a run that was left is taken up. It is lost without its app. */
type TakeUp = Omit<Spawner, 'parent' | 'app'> & {
  readonly parent: LiveRun | null;
  readonly app: Application | undefined;
};

/** The parts with which a child begins or is taken up. */
export interface Spawner {
  readonly parent: LiveRun;
  readonly overseer: Overseer | null;
  readonly app: Application;
  readonly resumption?: Resumption;
}

function appOf(app: (name: string) => Application, name: string): Application | undefined {
  try {
    return app(name);
  } catch {
    // This gateway does not serve it any more.
    return undefined;
  }
}

/** The beginning of a run, in a lane above those of the state. */
function spawned(
  { id: runId, messageId, request }: LiveRun,
  { lanes = [] }: SessionState,
  version: string | undefined,
): EventDraft {
  const { message, key, metadata } = request;
  const { app, depth: _, inline: __, compacts: ___, calls: ____, ...place } = request.lane!;
  const lane = 1 + Math.max(0, ...lanes.map((each) => each.lane));
  return {
    ...{ type: 'run_spawned', runId, ts: Date.now(), messageId, app, lane, ...place, message },
    ...(version !== undefined && { version }),
    ...(key !== undefined && { key }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}
