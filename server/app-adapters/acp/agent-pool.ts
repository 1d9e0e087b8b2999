import { GatewayError } from '../../../shared/errors.js';
import type { Turn } from '../../apps/application.js';
import { holdOf } from '../../apps/while-held.js';
import { checkFolder } from '../check-folder.js';
import { givenTo } from '../given.js';
import { AgentProcess } from './agent-process.js';
import type { AcpAppOptions, AcpBounds } from './options.js';
import { type AcpLibrary, loadAcp } from './sdk.js';

/** The processes of one app: one for each session that this process holds, as long as it is held and not idle. */
export class AgentPool {
  readonly #options: AcpAppOptions;
  readonly #bounds: AcpBounds;
  readonly #agents = new Map<AbortSignal, AgentProcess>();
  readonly #idle = new WeakMap<AgentProcess, NodeJS.Timeout>();
  readonly #live = new Set<AgentProcess>();
  #library: Promise<AcpLibrary> | null = null;

  constructor(options: AcpAppOptions, bounds: AcpBounds) {
    this.#options = options;
    this.#bounds = bounds;
  }

  /** The process of the turn's session, when it is free. A child run has one of its own. */
  async take(turn: Turn): Promise<AgentProcess> {
    const hold = turn.trigger?.type === 'child' ? undefined : holdOf(turn);
    const known = hold && this.#agents.get(hold);
    if (known && !known.isTaken) {
      clearTimeout(this.#idle.get(known));
      await known.free;
      if (!known.isDead && !known.isTaken) return taken(known);
    }
    turn.signal.throwIfAborted();
    const agent = await this.#start(turn);
    if (hold?.aborted || turn.signal.aborted) {
      agent.end();
      throw new GatewayError({ code: 'ABORTED', message: 'The run ended before its agent had started' });
    }
    // A run beside the conversation leaves the conversation its own.
    if (hold && !known?.isTaken) {
      if (!this.#agents.has(hold)) hold.addEventListener('abort', () => this.#drop(hold), { once: true });
      this.#agents.set(hold, agent);
    }
    return taken(agent);
  }

  /** Gives a process back, once what it was asked has ended. */
  leave(turn: Turn, agent: AgentProcess, ended: Promise<unknown>): void {
    agent.listener = null;
    agent.isTaken = false;
    agent.free = ended.then(() => {
      const hold = holdOf(turn);
      if (!hold || this.#agents.get(hold) !== agent) return agent.end();
      agent.hold(false);
      this.#idle.set(agent, setTimeout(() => agent.end(), this.#bounds.idleMs).unref());
    });
  }

  #drop(hold: AbortSignal): void {
    this.#agents.get(hold)?.end();
    this.#agents.delete(hold);
  }

  async #start(turn: Turn): Promise<AgentProcess> {
    const { command, args = [], cwd, env = {} } = this.#options;
    this.#library ??= loadAcp();
    const agent = await AgentProcess.start(await this.#library, {
      ...{ command, args },
      cwd: checkFolder(await givenTo(turn, cwd)),
      env: await givenTo(turn, env),
      ...this.#bounds,
    });
    if (this.#live.size === 0) process.on('exit', this.#kill);
    this.#live.add(agent);
    agent.over.then(() => {
      this.#live.delete(agent);
      if (this.#live.size === 0) process.off('exit', this.#kill);
    });
    return agent;
  }

  readonly #kill = (): void => {
    for (const agent of this.#live) agent.kill();
  };
}

function taken(agent: AgentProcess): AgentProcess {
  agent.isTaken = true;
  agent.hold(true);
  return agent;
}
