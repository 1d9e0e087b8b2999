import type { Deliver } from '../../../shared/notices/options.js';
import type { LaneBound } from '../../due/bounded-lanes.js';
import type { Attempt, NoticeTarget } from './target.js';

/** Calls at a time. */
const MOST = 16;

/** The target that calls the host's own code. */
export class HostTarget implements NoticeTarget {
  readonly name = 'deliver';
  readonly content = true;
  readonly timeoutMs = 13_000;
  readonly #deliver: Deliver;

  constructor(deliver: Deliver) {
    this.#deliver = deliver;
  }

  bounds(): readonly LaneBound[] {
    return [{ name: this.name, most: MOST }];
  }

  wants(): boolean {
    return true;
  }

  async send({ told, attempt, signal }: Attempt): Promise<void> {
    await this.#deliver(told, { key: told.id, attempt, signal });
  }
}
