import type { Application, TurnSession } from '../apps/application.js';
import { GATEWAY } from '../diagnostics/model-call.js';
import type { LogWriter } from '../log/log-writer.js';
import type { LiveRun } from '../runs/live-run.js';
import type { RunPort } from '../runs/run-port.js';
import { storeTime } from '../stores/skew.js';
import type { Session } from './session.js';
import { vote } from './session-approvals.js';
import type { SessionRuns } from './session-runs.js';
import { spawn } from './spawning.js';
import { steeringOf } from './steering.js';

/** The parts of its session that a run uses. */
export function portOf(runs: SessionRuns, run: LiveRun, log: LogWriter, app: Application): RunPort {
  const { session: of, env } = runs;
  const { id, ref } = of;
  const { gatewayId, runMs, waitMs, answerSize, stepsSize, parkMs } = env;
  const session = new RunSession(of, log, gatewayId);
  return {
    setting: {
      ...{ gatewayId, session, app },
      ...{ runMs, waitMs, answerSize, stepsSize, parkMs },
    },
    log,
    questions: runs.questions,
    now: () => storeTime(env.store),
    vote: (ballot) => vote(runs, ballot),
    file: (fileId) => env.files.open(ref.scope, fileId),
    steered: run.request.lane ? steeringOf(run, log) : () => runs.takeSteered(run),
    spawn: (scope, asked) => spawn(runs, run, scope, asked),
    publish: (channel, type, payload) => of.publisher.publish(channel, type, payload, run.id),
    emit: (name, payload) => of.publisher.emit(name, payload, run.id),
    title: (text) => of.publisher.title(text, run.id),
    park: (until) => void runs.park(run, log, until),
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

  constructor({ id, ref }: Session, log: LogWriter, gatewayId: string) {
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
