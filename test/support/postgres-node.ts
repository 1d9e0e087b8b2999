import type { Store } from '../../server/stores/store.js';
import { FaultProxy } from './fault-proxy.js';
import type { PostgresServer } from './postgres-server.js';

/** A store whose line to the server can be broken. */
export class PostgresNode {
  readonly store: Store;
  readonly line: FaultProxy;

  private constructor(store: Store, proxy: FaultProxy) {
    this.store = store;
    this.line = proxy;
  }

  /** @param make Makes the store for a url. */
  static async start(server: PostgresServer, make: (url: string) => Store): Promise<PostgresNode> {
    const proxy = await FaultProxy.start(server.url);
    return new PostgresNode(make(server.urlAt(new URL(proxy.url).port)), proxy);
  }

  /** Nothing of it reaches the server any more, which is told that it is gone. */
  kill = (): void => {
    this.line.deaf = 'both';
    this.line.cut();
  };

  /** Nothing of it reaches the server, which is not told. */
  freeze = (): void => {
    this.line.deaf = 'both';
    this.line.hush();
  };

  thaw = (): void => {
    this.line.deaf = undefined;
    this.line.cut();
  };

  /** It loses its connections for a moment. */
  blink = (): void => this.line.cut();

  /** Closes it, whatever became of it. */
  async end(): Promise<void> {
    this.thaw();
    await this.store.close();
  }
}
