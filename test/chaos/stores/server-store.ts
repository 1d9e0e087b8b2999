import type { StoreSpec, StoreUnderTest } from './store-under-test.js';

/** What is done with a server, which begins again with what it kept. */
export interface ServerKind<S> {
  readonly kind: StoreSpec['kind'];
  readonly options?: StoreSpec['options'];
  first(): Promise<S>;
  again(server: S): Promise<unknown>;
  end(server: S): Promise<unknown>;
  remove(server: S): unknown;
}

/** A store that a server of its own keeps. */
export class ServerStore<S extends { readonly port: number }> implements StoreUnderTest {
  readonly kind: StoreSpec['kind'];
  readonly options: StoreSpec['options'];
  up = false;
  protected server: S | null = null;
  readonly #of: ServerKind<S>;

  constructor(of: ServerKind<S>) {
    this.#of = of;
    this.kind = of.kind;
    this.options = of.options;
  }

  get port(): number {
    return this.server!.port;
  }

  async start(): Promise<void> {
    if (this.server) await this.#of.again(this.server);
    else this.server = await this.#of.first();
    this.up = true;
  }

  async kill(): Promise<void> {
    if (this.server) await this.#of.end(this.server);
    this.up = false;
  }

  remove(): unknown {
    return this.server && this.#of.remove(this.server);
  }
}
