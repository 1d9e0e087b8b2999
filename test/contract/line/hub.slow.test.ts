import { StoreError, type StoreErrorCode } from '../../../server/stores/append.js';
import type { Membership, SharedStore } from '../../../server/stores/shared-store.js';
import type { Store } from '../../../server/stores/store.js';
import { withDeadlines } from '../../../server/stores/store-deadlines.js';
import { MemoryHub } from '../../support/memory-hub.js';
import { Armed, LATE_MS } from './cut-line.js';
import { describeMembers } from './describe-members.js';

/** Members that change something, of which nobody knows then whether it was made. */
const CHANGING = /^(acquire|release|append|cut|changeRecords|takeDue|expire|remove|join|put|drop)$/;

type Call = (...args: never[]) => unknown;

const late = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, LATE_MS));

/** A store without a wire, whose calls are hit as requests are. */
class GatedStore extends Armed {
  readonly store: Store;
  readonly #isMadeLate: boolean;

  constructor(store: Store, isMadeLate: boolean) {
    super();
    this.#isMadeLate = isMadeLate;
    this.store = this.#gated(store, { shared: this.#gated(store.shared!) });
  }

  #gated<Port extends Store | SharedStore | Membership>(port: Port, own: object = {}): Port {
    return new Proxy(port, {
      get: (target, name) => {
        if (name in own) return own[name as keyof typeof own];
        const member = target[name as keyof Port];
        if (typeof member !== 'function') return member;
        const call = (member as Call).bind(target);
        if (name === 'watch' || name === 'open' || name === 'close' || name === 'leave') return call;
        return (...args: never[]) => this.#call(String(name), () => call(...args));
      },
    });
  }

  async #call(name: string, call: () => unknown): Promise<unknown> {
    const hit = this.take();
    if (!hit) return this.#made(call);
    if (hit.cut === 'before') throw lost('UNAVAILABLE');
    if (hit.cut === 'late' && this.#isMadeLate) await late();
    const answer = await this.#made(call);
    if (hit.cut === 'late' && !this.#isMadeLate) await late();
    if (hit.cut !== 'after') return answer;
    if (name === 'tell') return false;
    throw lost(CHANGING.test(name) ? 'UNKNOWN' : 'UNAVAILABLE');
  }

  /** Who joins is given what has to pass here, too. */
  async #made(call: () => unknown): Promise<unknown> {
    const answer = await call();
    return isMembership(answer) ? this.#gated(answer) : answer;
  }
}

const isMembership = (answer: unknown): answer is Membership =>
  typeof answer === 'object' && answer !== null && 'tell' in answer;

const lost = (code: StoreErrorCode): StoreError => new StoreError(code, 'The line was cut');

for (const isMadeLate of [true, false])
  describe(`store contract over a line that breaks: a hub with deadlines, ${isMadeLate ? 'asked' : 'that answers'} late`, () => {
    describeMembers(() => ({
      refusing: [],
      // They ask nothing of it.
      without: /^(check|watch|leave)$/,
      async open() {
        const hub = new MemoryHub();
        const gated = new GatedStore(hub.node().store, isMadeLate);
        return {
          store: withDeadlines(gated.store, LATE_MS / 4),
          beside: hub.node().store,
          arm: (hit) => gated.arm(hit),
          disarm: () => gated.disarm(),
        };
      },
    }));
  });
