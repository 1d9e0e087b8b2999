import type { Store } from '../../server/stores/store.js';
import { FaultProxy } from './fault-proxy.js';

/** A store whose line to the server can be broken. */
export class LineNode {
  readonly store: Store;
  readonly line: FaultProxy;

  private constructor(store: Store, proxy: FaultProxy) {
    this.store = store;
    this.line = proxy;
  }

  /** @param make Makes the store that reaches the server by a port of loopback. */
  static async start(url: string, make: (port: number) => Store): Promise<LineNode> {
    const proxy = await FaultProxy.start(url);
    return new LineNode(make(Number(new URL(proxy.url).port)), proxy);
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
