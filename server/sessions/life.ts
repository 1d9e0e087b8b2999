import type { HeldSession } from '../held/held-session.js';

/** The stage of a session at this gateway: whether it writes the session's log. Reading does not depend on it. */
export type Stage =
  /** Another gateway may hold the session, or nobody. It may be followed here. */
  | { readonly name: 'free' }
  /** The store may say that this gateway holds the session, and it does not. It is taken again until its holder is known. */
  | { readonly name: 'doubtful'; readonly tries: number }
  | { readonly name: 'taking'; readonly tries: number; readonly done: Promise<HeldSession | null> }
  | { readonly name: 'held'; readonly held: HeldSession }
  /** The session is held until its close is stored. */
  | { readonly name: 'closing'; readonly held: HeldSession | null; readonly done: Promise<void> }
  /** The gateway is ending. The session may still be held, and is not taken again. */
  | { readonly name: 'leaving'; readonly held: HeldSession | null };

type Name = Stage['name'];

/** The stages that may follow one. */
const NEXT: { readonly [From in Name]: ReadonlySet<Name> } = {
  // A store that answers at once leads from here to `held`.
  free: new Set(['taking', 'held', 'doubtful', 'leaving']),
  doubtful: new Set(['taking', 'held', 'doubtful', 'free', 'leaving']),
  taking: new Set(['held', 'doubtful', 'free', 'leaving']),
  held: new Set(['closing', 'doubtful', 'free', 'leaving']),
  // Refused closes lead back to `held`.
  closing: new Set(['closing', 'held', 'doubtful', 'free', 'leaving']),
  leaving: new Set(['leaving']),
};

/** The answers that each stage gives. */
const MAY: {
  readonly [At in Name]: {
    /** Whether work is done here without asking the store who holds the session. */
    readonly work: boolean;
    /** Whether further runs may begin. */
    readonly start: boolean;
    /** Whether this gateway decides what its readers see, so that a look at the store comes too late. */
    readonly show: boolean;
    /** Whether the holder is known or being found out. */
    readonly tell: boolean;
  };
} = {
  free: { work: false, start: false, show: false, tell: false },
  doubtful: { work: false, start: false, show: false, tell: true },
  taking: { work: false, start: false, show: true, tell: true },
  held: { work: true, start: true, show: true, tell: true },
  closing: { work: true, start: false, show: true, tell: true },
  leaving: { work: false, start: false, show: false, tell: false },
};

/** The life of a session at this gateway: one stage at a time. Only `Hold` moves it on. */
export class Life {
  #stage: Stage = { name: 'free' };
  /** Set once the gateway is ending: what is held is kept until it is given up, and nothing starts. */
  #ending = false;
  readonly #counts: { held: number };

  /** @param counts Counts the sessions that are held */
  constructor(counts: { held: number }) {
    this.#counts = counts;
  }

  get stage(): Stage {
    return this.#stage;
  }

  /** The session as it is held here. */
  get held(): HeldSession | null {
    return 'held' in this.#stage ? this.#stage.held : null;
  }

  /** Whether work is done here without asking the store who holds the session. */
  get mayWork(): boolean {
    return MAY[this.#stage.name].work && this.held !== null;
  }

  /** Whether further runs may begin. */
  get mayStart(): boolean {
    return MAY[this.#stage.name].start && !this.#ending;
  }

  /** Whether this gateway decides what its readers see. */
  get shows(): boolean {
    return MAY[this.#stage.name].show || this.held !== null;
  }

  /** Whether the session is held here, or its holder is being found out. */
  get known(): boolean {
    return MAY[this.#stage.name].tell || this.held !== null;
  }

  /** Moves on to another stage. Once the gateway is ending, what is not held is not taken again. */
  become(next: Stage): void {
    const isOver = this.#ending && (next.name === 'free' || next.name === 'doubtful');
    const to: Stage =
      isOver || this.#stage.name === 'leaving' ? { name: 'leaving', held: heldOf(next) } : next;
    if (!NEXT[this.#stage.name].has(to.name))
      throw new Error(`A session that is ${this.#stage.name} cannot become ${to.name}`);
    this.#counts.held += (heldOf(to) ? 1 : 0) - (this.held ? 1 : 0);
    this.#stage = to;
  }

  /** The gateway is ending, so nothing more starts. */
  end(): void {
    this.#ending = true;
    const { name } = this.#stage;
    if (name === 'free' || name === 'doubtful') this.become(this.#stage);
  }

  /** Gives the session up for good. */
  leave(): void {
    this.#ending = true;
    this.become({ name: 'leaving', held: this.held });
  }
}

const heldOf = (stage: Stage): HeldSession | null => ('held' in stage ? stage.held : null);
