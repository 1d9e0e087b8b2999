import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../../shared/errors.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import { newRequestId } from '../ids.js';
import { unavailable } from '../log/unavailable.js';
import { StoreError } from '../stores/append.js';
import type { Cluster } from './cluster.js';

/** Longest wait for the answer of a living gateway, in milliseconds. */
const WAIT_MS = 15_000;
/** Delay before it is asked again, in milliseconds; up to twice as much. */
const AGAIN_MS = 40;

declare const types: unique symbol;

/** Work that one gateway does for another and that belongs to no session held there. Input and output are plain values. */
export interface Errand<Input, Output> {
  readonly name: string;
  readonly [types]?: (input: Input) => Output;
}

/** Names an errand, for both sides. */
export function errand<Input, Output>(name: string): Errand<Input, Output> {
  return { name };
}

/** Asks another gateway by name for facts that only it knows: an open connection, a running call. */
export class Errands {
  readonly #cluster: Pick<Cluster, 'ask' | 'alive' | 'others' | 'joined'>;
  readonly #done = new Map<string, (input: unknown) => unknown>();
  readonly holder: string;

  constructor(cluster: Pick<Cluster, 'ask' | 'alive' | 'others' | 'joined'>, holder: string) {
    this.#cluster = cluster;
    this.holder = holder;
  }

  /** Sets the work of an errand. A repeated question does the work once. */
  on<Input, Output>({ name }: Errand<Input, Output>, work: (input: Input) => MaybePromise<Output>): void {
    this.#done.set(name, work as (input: unknown) => unknown);
  }

  /** Does the errand that another gateway asks for. */
  async serve(asked: unknown): Promise<unknown> {
    const { errand: name, input } = asked as { readonly errand: string; readonly input: unknown };
    const work = this.#done.get(name);
    if (!work) throw new GatewayError({ code: 'INTERNAL', message: `There is no errand ${name}` });
    return work(input);
  }

  /**
   * Asks a gateway to do an errand.
   *
   * @param options.waitMs Longest wait for a living gateway, in milliseconds. @default 15_000
   * @returns The output; undefined if the gateway is gone
   * @throws GatewayError the error that it replied with; `OVERLOADED` if it lives and did not answer in time
   */
  async ask<Input, Output>(
    holder: string,
    { name }: Errand<Input, Output>,
    input: Input,
    { waitMs = WAIT_MS }: { readonly waitMs?: number } = {},
  ): Promise<Output | undefined> {
    if (holder === this.holder) return (await this.serve({ errand: name, input })) as Output;
    // A client may have made up the name, so tell nothing to a gateway that does not exist.
    if (!(await this.#cluster.alive(holder))) return undefined;
    const question = { id: newRequestId(), ref: null, input: { errand: name, input } };
    const until = performance.now() + waitMs;
    let isDoubtful = false;
    do {
      const reply = await this.#cluster.ask(holder, question);
      if (reply.kind === 'done') return reply.output as Output;
      isDoubtful ||= reply.kind === 'silent';
      if (!(await this.#cluster.alive(holder))) return undefined;
      await delay(AGAIN_MS * (1 + Math.random()));
    } while (this.#cluster.joined && performance.now() < until);
    const code = isDoubtful ? 'UNKNOWN' : 'UNAVAILABLE';
    throw unavailable(new StoreError(code, 'Another gateway did not answer'));
  }

  /** Asks all other gateways to do an errand. Returns their outputs; undefined for one that refused, or did not answer. */
  async askAll<Input, Output>(
    work: Errand<Input, Output>,
    input: Input,
  ): Promise<readonly (Output | undefined)[]> {
    const others = await this.#cluster.others();
    const asked = others.map(async (holder) => {
      const output = await this.ask(holder, work, input);
      return output === undefined ? [] : [output];
    });
    const answers = await Promise.allSettled(asked);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [undefined]));
  }
}
