import { connect, createServer } from 'node:net';
import { Cutter } from './cutter.js';
import { portOf } from './host-server.js';

/** Passes TCP connections through and cuts each after so many bytes of its answer. */
export class CuttingProxy extends Cutter {
  readonly url: string;

  private constructor(port: number) {
    super();
    this.url = `http://127.0.0.1:${port}`;
  }

  /** Starts a proxy in front of a gateway; it is closed after the test. */
  static async start(target: string): Promise<CuttingProxy> {
    let proxy: CuttingProxy;
    const server = createServer((client) =>
      proxy.pass(client, connect(Number(new URL(target).port), '127.0.0.1')),
    );
    proxy = new CuttingProxy(await portOf(server));
    return proxy;
  }
}
