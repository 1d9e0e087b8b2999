import type { Application, TurnSession } from '../apps/application.js';
import { GATEWAY } from '../diagnostics/model-call.js';
import type { LogWriter } from '../log/log-writer.js';
import type { LiveRun } from '../runs/live-run.js';
import type { RunPort } from '../runs/run-port.js';
import { storeTime } from '../stores/skew.js';
import { hindrance } from './gates.js';
import type { HeldSession } from './held-session.js';
import { vote } from './session-approvals.js';
import { spawn } from './spawning.js';
import { steeringOf } from './steering.js';
import { park } from './waking.js';

/** The parts of its session that a run uses. */
export function portOf(held: HeldSession, run: LiveRun, app: Application): RunPort {
  const { id, ref, env, log, runs, publisher } = held;
  const { gatewayId } = env;
  const { runMs, waitMs, answerSize, stepsSize, summaryLength, variantsPerSession, parkMs } = env.limits;
  const session = new RunSession(held, gatewayId);
  return {
    setting: {
      ...{ gatewayId, session, app, guard: env.guardOf(app) },
      ...{ runMs, waitMs, answerSize, stepsSize, summaryLength, variantsPerSession, parkMs },
    },
    log,
    questions: runs.questions,
    hold: () => held.hold,
    now: () => storeTime(env.store),
    vote: (ballot) => vote(held, ballot),
    file: (fileId) => env.files.open(ref.scope, fileId),
    priced: (usage) => env.prices.reduce((priced, prices) => prices(priced), usage),
    ...(env.gates.length > 0 && { gate: () => hindrance(held, run) }),
    steered: run.request.lane ? steeringOf(run, log) : () => runs.takeSteered(run),
    spawn: (scope, asked) => spawn(held, run, scope, asked),
    publish: (channel, type, payload) => publisher.publish(channel, type, payload, run.id),
    emit: (name, payload) => publisher.emit(name, payload, run.id),
    title: (text) => publisher.title(text, run.id),
    park: (until, waits) => void park(held, run, { until, waits }),
    end: (ending, before) => void runs.end(run, ending, before),
    warn: (what, why) => env.report.warn?.(what, { ...runs.about(run), ...why }),
    report: (error, what) => env.report(error, `session ${id}: ${what}`, runs.about(run)),
  };
}

/** The session as a turn sees it. A class, because V8 makes an object literal with an accessor slowly. */
class RunSession implements TurnSession {
  readonly id: string;
  readonly app: string;
  readonly epoch: string;
  readonly [GATEWAY]: string;
  readonly #log: LogWriter;

  constructor({ id, ref, log }: HeldSession, gatewayId: string) {
    this.id = id;
    this.app = ref.app;
    this.epoch = log.ref.epoch;
    this[GATEWAY] = gatewayId;
    this.#log = log;
  }

  get title(): string | undefined {
    return this.#log.state.title;
  }
}
