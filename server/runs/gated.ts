import type { UserContext } from '../../shared/contract.js';
import type { ToolSession } from '../apps/application.js';
import type { GuardPolicy } from '../guard/policy.js';
import type { AnswerWriter } from './answer-writer.js';
import type { LiveRun } from './live-run.js';
import type { RunPort } from './run-port.js';
import { SpeechGate } from './speech-gate.js';
import type { Waits } from './waits.js';

/** A run with a gate, if anything that its app says is checked. */
interface Gated {
  readonly gate: SpeechGate | null;
  readonly ended: boolean;
}

/** The parts of a run that its gate uses. */
interface GatedScope extends Gated {
  readonly run: LiveRun;
  readonly answer: AnswerWriter;
  readonly session: ToolSession;
  readonly user: UserContext | null;
  readonly waits: Waits;
  readonly port: Pick<RunPort, 'end'>;
  fail(error: unknown): void;
}

/** The gate of a run; null if nothing that its app says is checked. */
export function gateOf(scope: GatedScope, guard: GuardPolicy | null): SpeechGate | null {
  if (!guard?.ofRuns) return null;
  const { run, answer, session, user } = scope;
  return new SpeechGate(guard, {
    answer,
    about: { run: { id: run.id, app: run.request.lane?.app ?? session.app, sessionId: session.id }, user },
    get ended() {
      return scope.ended;
    },
    used: () => scope.waits.used(),
    fail: (error) => scope.fail(error),
    moderated: () => scope.port.end({ stopReason: 'moderated' }),
  });
}

/** Says a value that is not part of the answer's text, once it is checked. */
export function say(
  { gate, ended }: Gated,
  { name, value }: { readonly name: string; readonly value: unknown },
  write: (value: unknown) => void,
): void {
  if (ended) return;
  if (gate) gate.put({ kind: 'data', name, value, write });
  else write(value);
}

/** Does what ends a run behind all that its app has said. */
export function finish(scope: Gated & Pick<GatedScope, 'answer'>, end: () => void): void {
  const settled = (): void => {
    if (scope.ended) return;
    scope.answer.settle();
    end();
  };
  const written = scope.gate?.flushed();
  if (written) void written.then(settled);
  else settled();
}
