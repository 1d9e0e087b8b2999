import { fieldError } from '../../../shared/errors.js';
import type { OnDisconnect } from '../../apps/application.js';
import type { Versioned } from '../../apps/versions.js';
import type { OnFault } from '../again-after-fault.js';
import { checkFolder } from '../check-folder.js';
import type { Given } from '../given.js';

/** Options of an app that answers with an agent of the Agent Client Protocol. */
export interface AcpAppOptions extends Versioned {
  /** The program: a path, or a name that the `PATH` of `env` finds. It is given no shell. */
  readonly command: string;
  readonly args?: readonly string[];
  /**
   * The folder that the agent works in: an absolute path, the same for all runs of a session. Tell sessions apart by `session.epoch`, because two users may
   * have the same `session.id`.
   */
  readonly cwd: Given<string>;
  /** The whole environment of the program. Nothing of this process's own is added. @default none */
  readonly env?: Given<Readonly<Record<string, string>>>;
  readonly description?: string;
  /** @default 'continue' */
  readonly onDisconnect?: OnDisconnect;
  /**
   * Whether a run resumes after a restart of the gateway: the agent's session is taken up where the agent can do that, and the message is asked again. Its work for that message may be
   * done twice.
   *
   * @default false
   */
  readonly resumable?: boolean;
  /**
   * The policy for an agent that dies or breaks the protocol. `end`: the run ends as `error`. `again`: what it has said is taken back, and another process is
   * asked, at most three times a run. Work of the agent may be done twice.
   *
   * @default 'end'
   */
  readonly onFault?: OnFault;
  /** Milliseconds that the agent may take to start, and to begin or take up a session. @default 30_000 */
  readonly startMs?: number;
  /** Milliseconds without a run after which the process is ended. The next run starts another. @default 600_000 */
  readonly idleMs?: number;
  /** Milliseconds that the agent may take to stop when a run is aborted, before it is killed. @default 5_000 */
  readonly graceMs?: number;
  /** Longest message of the agent, in bytes. @default 4 MiB */
  readonly messageBytes?: number;
}

/** The numbers among the options. */
export interface AcpBounds {
  readonly startMs: number;
  readonly idleMs: number;
  readonly graceMs: number;
  readonly messageBytes: number;
}

const DEFAULTS: AcpBounds = {
  ...{ startMs: 30_000, idleMs: 600_000, graceMs: 5_000 },
  messageBytes: 4 * 1024 * 1024,
};
/** The longest time of a timer, which beginners meet as none at all. */
const MOST = 2 ** 31 - 1;

/** The bounds of an app. @throws GatewayError `INVALID_PARAMS` that names the option */
export function acpBounds(options: AcpAppOptions): AcpBounds {
  const { command, cwd, onFault = 'end' } = options;
  if (typeof command !== 'string' || command === '') throw fieldError('command', 'must be a text');
  if (typeof cwd === 'string') checkFolder(cwd);
  if (onFault !== 'end' && onFault !== 'again') throw fieldError('onFault', "must be 'end' or 'again'");
  const given = Object.entries(DEFAULTS).map(([name, value]) => {
    const bound = options[name as keyof AcpBounds] ?? value;
    if (!Number.isInteger(bound) || bound < 1 || bound > MOST)
      throw fieldError(name, `must be a whole number from 1 to ${MOST}`);
    return [name, bound];
  });
  return Object.fromEntries(given) as AcpBounds;
}
