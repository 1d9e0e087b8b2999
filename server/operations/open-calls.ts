import { AsyncLocalStorage } from 'node:async_hooks';
import type { GatewayError } from '../../shared/errors.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { Person } from '../auth/types.js';
import { LimitError } from '../limit-error.js';
import type { MethodStream } from '../methods/stream.js';

/** A request to a door, until its response ends. */
interface OpenRequest {
  /** Whether its response has begun, or nobody waits for it any more. */
  readonly isAnswered: () => boolean;
}

const requests = new AsyncLocalStorage<OpenRequest>();

/** Counts the calls and sends that a shutdown waits for, and the responses that users hold open. */
export class OpenCalls {
  readonly #allowed: (person: Person) => number;
  readonly #perUser = new Map<string, number>();
  readonly #streams = new Set<MethodStream>();
  readonly #sends = new Set<Promise<unknown>>();
  readonly #requests = new Set<OpenRequest>();
  #calls = 0;
  #wake: (() => void)[] = [];

  /** @param allowed Number of responses that a caller may hold open. */
  constructor(allowed: (person: Person) => number) {
    this.#allowed = allowed;
  }

  /** Calls that are not answered yet. */
  get size(): number {
    return this.#calls;
  }

  /** Open streams of methods. */
  get streams(): number {
    return this.#streams.size;
  }

  /**
   * Counts a response that stays open, such as a stream of one run. Call the returned function when it ends.
   *
   * @throws GatewayError `TOO_MANY_CONNECTIONS`
   */
  hold(person: Person): () => void {
    const { key, kind } = person.pays;
    const allowed = this.#allowed(person);
    const count = this.#perUser.get(key) ?? 0;
    if (count >= allowed) {
      throw new LimitError(kind === 'many' ? 'limits.shared.connections' : 'limits.streamsPerUser', {
        code: 'TOO_MANY_CONNECTIONS',
        message: `A user can have ${allowed} open streams of methods and runs`,
        retryAfterMs: 5000,
      });
    }
    this.#perUser.set(key, count + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const left = this.#perUser.get(key)! - 1;
      if (left > 0) this.#perUser.set(key, left);
      else this.#perUser.delete(key);
    };
  }

  /** Opens a streaming method for a user. @throws GatewayError `TOO_MANY_CONNECTIONS` */
  stream(person: Person, open: (closed: () => void) => MethodStream): MethodStream {
    const release = this.hold(person);
    const stream = open(() => {
      release();
      this.#streams.delete(stream);
    });
    this.#streams.add(stream);
    return stream;
  }

  /** Counts a call until `end` is called. */
  begin(): void {
    this.#calls += 1;
  }

  readonly end = (): void => {
    this.#calls -= 1;
    if (this.#calls === 0) for (const wake of this.#wake.splice(0)) wake();
  };

  /** Counts a send until it is answered, because its sender must learn the end of the run that it begins. */
  send<T>(sent: Promise<T>): Promise<T> {
    const answered = sent.finally(() => this.#sends.delete(answered));
    this.#sends.add(answered);
    return answered;
  }

  /** Resolves once no call or send is open. It does not wait for streams, most of which never end. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#sends);
    if (this.#calls > 0) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  /** Serves a request that arrived before a drain. Its work is still accepted, and the drain waits until its response begins. */
  async serve(isAnswered: () => boolean, work: () => MaybePromise<void>): Promise<void> {
    const request = { isAnswered };
    this.#requests.add(request);
    try {
      await requests.run(request, work);
    } finally {
      this.#requests.delete(request);
    }
  }

  /** Whether the present code works for a request in `serve`. */
  get isServing(): boolean {
    const request = requests.getStore();
    return request !== undefined && this.#requests.has(request);
  }

  /** Whether a request in `serve` still waits for its response to begin. */
  get areWaiting(): boolean {
    return [...this.#requests].some(({ isAnswered }) => !isAnswered());
  }

  /** Ends the open streams of methods. */
  endStreams(error: GatewayError): void {
    for (const stream of [...this.#streams]) stream.stop(error);
  }
}
