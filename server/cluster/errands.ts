import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../../shared/errors.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import { newRequestId } from '../ids.js';
import { unavailable } from '../log/unavailable.js';
import { StoreError } from '../stores/store.js';
import type { Cluster } from './cluster.js';

/** How long an answer of a gateway is waited for that lives. */
const WAIT_MS = 15_000;
/** Before it is asked again, in milliseconds; up to twice as much. */
const AGAIN_MS = 40;

declare const types: unique symbol;

/** Something that one gateway does for another and that belongs to no session which it holds. Plain values go to and fro. */
export interface Errand<Input, Output> {
  readonly name: string;
  readonly [types]?: (input: Input) => Output;
}

/** Names an errand; both sides have it. */
export function errand<Input, Output>(name: string): Errand<Input, Output> {
  return { name };
}

/** What one gateway asks of another that it knows by name, because something is known there alone: an open connection, a call that runs. */
export class Errands {
  readonly #cluster: Pick<Cluster, 'ask' | 'alive' | 'others' | 'joined'>;
  readonly #done = new Map<string, (input: unknown) => unknown>();
  readonly holder: string;

  constructor(cluster: Pick<Cluster, 'ask' | 'alive' | 'others' | 'joined'>, holder: string) {
    this.#cluster = cluster;
    this.holder = holder;
  }

  /** Does an errand for others. May be asked more than once for the same: it is done once. */
  on<Input, Output>({ name }: Errand<Input, Output>, work: (input: Input) => MaybePromise<Output>): void {
    this.#done.set(name, work as (input: unknown) => unknown);
  }

  /** What another gateway asks of this one. */
  async serve(asked: unknown): Promise<unknown> {
    const { errand: name, input } = asked as { readonly errand: string; readonly input: unknown };
    const work = this.#done.get(name);
    if (!work) throw new GatewayError({ code: 'INTERNAL', message: `There is no errand ${name}` });
    return work(input);
  }

  /**
   * Has a gateway do something.
   *
   * @param options.waitMs How long to wait for one that lives. @default 15_000
   * @returns What came of it; undefined where that gateway is gone
   * @throws GatewayError what it said; `OVERLOADED` where it lives and did not answer in time
   */
  async ask<Input, Output>(
    holder: string,
    { name }: Errand<Input, Output>,
    input: Input,
    { waitMs = WAIT_MS }: { readonly waitMs?: number } = {},
  ): Promise<Output | undefined> {
    if (holder === this.holder) return (await this.serve({ errand: name, input })) as Output;
    // The name may be of a client's making: nobody is told anything who is not there.
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

  /** Has all others do something. What came of it at those that are there: undefined where one refused, or did not answer. */
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
