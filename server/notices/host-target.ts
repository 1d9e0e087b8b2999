import type { Deliver } from './options.js';
import type { Attempt, NoticeTarget } from './target.js';

/** The target that calls the host's own code. */
export class HostTarget implements NoticeTarget {
  readonly name = 'deliver';
  readonly content = true;
  readonly timeoutMs = 13_000;
  readonly most = 16;
  readonly #deliver: Deliver;

  constructor(deliver: Deliver) {
    this.#deliver = deliver;
  }

  wants(): boolean {
    return true;
  }

  async send({ told, attempt, signal }: Attempt): Promise<void> {
    await this.#deliver(told, { key: told.id, attempt, signal });
  }
}
