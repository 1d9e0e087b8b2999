import type { AppEvent, Turn } from '../apps/application.js';
import type { StepContext } from '../apps/step-context.js';

type StepItem = string | AppEvent;

/** A generator of an app's items, with a result. */
export type ItemGenerator<T> = AsyncGenerator<StepItem, T>;

/**
 * A step that yields while it is under way. The items of its generator are yielded here; those of a step that ended in a former process come from its
 * outcome. Every item is in the log before the step's outcome is kept.
 *
 * @param again The items of the step, by its outcome.
 */
export async function* streamedStep<T>(
  turn: Turn,
  name: string,
  say: (step: StepContext) => ItemGenerator<T>,
  again: (outcome: T) => Iterable<StepItem>,
): ItemGenerator<T> {
  const relay = new Relay();
  let isLive = false;
  const outcome = turn.step(name, async (context) => {
    isLive = true;
    const saying = say(context);
    try {
      for (;;) {
        const { done, value } = await saying.next();
        if (done) return value;
        await relay.put(value);
      }
    } finally {
      // An interrupted generator releases the stream that it reads.
      saying.return(undefined as never).catch(() => {});
    }
  });
  outcome.then(relay.end, relay.end);
  try {
    for (let item = await relay.take(); item !== null; item = await relay.take()) yield item;
  } finally {
    relay.cut();
  }
  const result = (await outcome) as T;
  if (!isLive) yield* again(result);
  return result;
}

/** Passes one item at a time to the generator that yields it. An item has been yielded, and so appended, when the next one is requested. */
class Relay {
  #item: { readonly value: StepItem; readonly taken: (error?: Error) => void } | null = null;
  #yielded: ((error?: Error) => void) | null = null;
  #wake = () => {};
  #ended = false;
  #cut = false;

  put(value: StepItem): Promise<void> {
    return new Promise((resolve, reject) => {
      const taken = (error?: Error): void => (error ? reject(error) : resolve());
      if (this.#cut) return taken(over());
      this.#item = { value, taken };
      this.#wake();
    });
  }

  /** The next item; null at the end. */
  async take(): Promise<StepItem | null> {
    this.#yielded?.();
    this.#yielded = null;
    while (!this.#item && !this.#ended) await new Promise<void>((resolve) => (this.#wake = resolve));
    if (!this.#item) return null;
    const { value, taken } = this.#item;
    this.#item = null;
    this.#yielded = taken;
    return value;
  }

  readonly end = (): void => {
    this.#ended = true;
    this.#wake();
  };

  /** Ends the relay: nobody yields its items any more. */
  cut(): void {
    this.#cut = true;
    this.#yielded?.(over());
    this.#item?.taken(over());
  }
}

const over = (): Error => new DOMException('The run has ended', 'AbortError');
