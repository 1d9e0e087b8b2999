import type { AppEvent, Turn } from '../apps/application.js';
import type { Child } from '../apps/child.js';
import { fittingId } from '../ids.js';

type ChildItem = string | AppEvent;

/** A sub-agent inside a framework, as its adapter names it. */
export interface SubAgent {
  /** Names it among the children of its run. A resumed run joins the child of the same id. */
  readonly id: string;
  readonly app: string;
  /** The text that it answers; the same after a restart. */
  readonly message: string;
  readonly callId?: string | undefined;
}

/** A child run that says what its adapter puts into it, in order. */
export class FedChild {
  readonly #items: ChildItem[] = [];
  #wake = () => {};
  #isEnded = false;
  #child: Child | null = null;
  /** Whether it has said all that was put into it, or can say no more. */
  #isIdle = false;
  #heard: (() => void)[] = [];
  readonly #begun: Promise<Turn | null>;

  /** @param turn Its parent's; null if that has no child run to show */
  constructor(turn: Turn | null | Promise<Turn | null>, { app, message, id, callId }: SubAgent) {
    const asked = {
      ...{ id: fittingId(id), message },
      ...(callId !== undefined && { callId: fittingId(callId) }),
    };
    this.#begun = new Promise((begun) => {
      const spawn = (parent: Turn | null): void => {
        const run = (own: Turn) => {
          begun(own);
          return this.#say();
        };
        // Its limits are for what is shown: a sub-agent beyond them works all the same.
        const spawned = parent && attempt(() => parent.spawn(app, { ...asked, run }));
        this.#child = spawned;
        // Nobody hears what comes later.
        const over = () => {
          this.#isEnded = true;
          this.#items.length = 0;
          begun(null);
          this.#idle();
        };
        if (spawned) spawned.result.then(over, over);
        else over();
      };
      if (turn instanceof Promise) turn.then(spawn);
      else spawn(turn);
    });
  }

  /** Its own turn, once it has begun; null if it can't be shown. */
  get turn(): Promise<Turn | null> {
    return this.#begun;
  }

  put(item: ChildItem): void {
    if (this.#isEnded) return;
    this.#items.push(item);
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** Settles once it has said all that was put into it, so that it is in the log before what follows. */
  async said(): Promise<void> {
    if ((await this.#begun) && !(this.#isIdle && this.#items.length === 0))
      await new Promise<void>((resolve) => this.#heard.push(resolve));
  }

  #idle(): void {
    this.#isIdle = true;
    for (const heard of this.#heard.splice(0)) heard();
  }

  /** Settles once its end is stored. */
  async over(): Promise<void> {
    await this.#begun;
    await this.#child?.result.catch(() => {});
  }

  async *#say(): AsyncGenerator<ChildItem, void> {
    for (;;) {
      yield* this.#items.splice(0);
      if (this.#items.length > 0) continue;
      if (this.#isEnded) return;
      this.#idle();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#isIdle = false;
    }
  }
}

/** The input of a call as the text that a sub-agent answers. */
export function askedBy(input: unknown): string {
  const values = typeof input === 'object' && input !== null ? Object.values(input) : [input];
  const [only] = values;
  return values.length === 1 && typeof only === 'string' ? only : (JSON.stringify(input) ?? '');
}

function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}
