import type { Limits } from '../config/limits.js';
import { LimitError } from '../limit-error.js';

interface SlotLimits {
  readonly runsAtOnce: number;
  readonly tenant: Pick<Limits['tenant'], 'runsAtOnce' | 'runsWaiting'>;
}

/**
 * `waiting`: in the line of its tenant. `working`: its app is at work. `resting`: its app waits for a person or a time, and others may work.
 * `left`: it has ended here.
 */
export type SlotState = 'waiting' | 'working' | 'resting' | 'left';

/** The runs of one tenant. It exists while there are any. */
interface Tenant {
  readonly key: string;
  working: number;
  resting: number;
  /** In the order in which they came. */
  readonly line: Set<RunSlot>;
}

/** The place of one run among all that are at work. */
export class RunSlot {
  readonly #slots: RunSlots;
  readonly tenant: Tenant;
  /** Number in the order of all who came. */
  readonly place: number;
  readonly begin: () => void;
  state: SlotState = 'waiting';
  #rests = 0;

  constructor(slots: RunSlots, given: { tenant: Tenant; place: number; begin: () => void }) {
    this.#slots = slots;
    this.tenant = given.tenant;
    this.place = given.place;
    this.begin = given.begin;
  }

  /** Lets others work while the run waits for a person or a time. Every call needs one of `work`. */
  rest(): void {
    this.#rests += 1;
    if (this.state === 'working') this.#slots.moves(this, 'resting');
  }

  /** Goes on behind a wait, at once: it may be one run too many until others end. */
  work(): void {
    this.#rests -= 1;
    if (this.#rests === 0 && this.state === 'resting') this.#slots.moves(this, 'working');
  }

  /** Gives the slot up, in any state. */
  leave(): void {
    if (this.state !== 'left') this.#slots.moves(this, 'left');
  }
}

/**
 * Decides which run's app is called next where fewer may be at work than want to. The next slot goes to the tenant with the fewest at work,
 * and of two to the one whose run came first; the order within one tenant is kept.
 */
export class RunSlots {
  readonly #limits: SlotLimits;
  readonly #tenants = new Map<string, Tenant>();
  /** The tenants with somebody in line. */
  readonly #inLine = new Set<Tenant>();
  #working = 0;
  #waiting = 0;
  #came = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** Runs at work. */
  get working(): number {
    return this.#working;
  }

  /** Runs that wait for a slot. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Tenants with a run in any state. */
  get tenants(): number {
    return this.#tenants.size;
  }

  /** @throws GatewayError `OVERLOADED` if so many runs of the tenant wait already that no more are accepted */
  check(key: string): void {
    const waiting = this.#tenants.get(key)?.line.size ?? 0;
    if (waiting < this.#limits.tenant.runsWaiting) return;
    throw new LimitError('limits.tenant.runsWaiting', {
      code: 'OVERLOADED',
      message: `${waiting} runs wait for their turn already; send again when some of them are answered`,
      retryAfterMs: 1000,
    });
  }

  /** Takes a slot for a run, which works at once if one is free. Else `begin` is called in a later turn of the event loop. */
  enter(key: string, begin: () => void): RunSlot {
    let tenant = this.#tenants.get(key);
    if (!tenant) {
      tenant = { key, working: 0, resting: 0, line: new Set() };
      this.#tenants.set(key, tenant);
    }
    this.#came += 1;
    const slot = new RunSlot(this, { tenant, place: this.#came, begin });
    if (tenant.line.size === 0 && this.#isFree(tenant)) {
      this.#set(slot, 'working');
    } else {
      tenant.line.add(slot);
      this.#inLine.add(tenant);
      this.#waiting += 1;
    }
    return slot;
  }

  /** Whether a tenant would have at most its equal share of what is at work with one run more. */
  isBelowShare(key: string): boolean {
    const own = this.#tenants.get(key)?.working ?? 0;
    const others = this.#tenants.size + (this.#tenants.has(key) ? 0 : 1);
    return own + 1 <= this.#working / others;
  }

  /** Takes a step of a run. */
  moves(slot: RunSlot, to: SlotState): void {
    const { tenant, state } = slot;
    if (state === 'waiting') {
      tenant.line.delete(slot);
      if (tenant.line.size === 0) this.#inLine.delete(tenant);
      this.#waiting -= 1;
    } else if (state === 'working') {
      tenant.working -= 1;
      this.#working -= 1;
    } else tenant.resting -= 1;
    this.#set(slot, to);
    if (tenant.working + tenant.resting + tenant.line.size === 0) this.#tenants.delete(tenant.key);
    if (this.#waiting > 0) this.#giveAway();
  }

  #set(slot: RunSlot, state: SlotState): void {
    slot.state = state;
    if (state === 'resting') slot.tenant.resting += 1;
    if (state !== 'working') return;
    slot.tenant.working += 1;
    this.#working += 1;
  }

  #isFree(tenant: Tenant): boolean {
    return this.#working < this.#limits.runsAtOnce && tenant.working < this.#limits.tenant.runsAtOnce;
  }

  #giveAway(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      const slot = next;
      this.moves(slot, 'working');
      // The run that has ended is not to be held up by another one's app.
      setImmediate(() => {
        if (slot.state !== 'left') slot.begin();
      });
    }
  }

  #next(): RunSlot | null {
    let next: RunSlot | null = null;
    for (const tenant of this.#inLine) {
      if (!this.#isFree(tenant)) continue;
      const [first] = tenant.line;
      const has = tenant.working;
      const least = next?.tenant.working ?? Number.POSITIVE_INFINITY;
      if (has < least || (has === least && first!.place < next!.place)) next = first!;
    }
    return next;
  }
}
