import { connect, createServer } from 'node:net';
import { Cutter } from './cutter.js';
import { closeLater } from './resources.js';
import { socketDirectory } from './socket-directory.js';

/** Passes connections to a Unix socket through, and cuts them when told. */
export class CuttingSocket extends Cutter {
  readonly path: string;

  private constructor(path: string) {
    super();
    this.path = path;
  }

  /** Starts it in front of a gateway's socket; it is closed after the test. */
  static async start(target: string): Promise<CuttingSocket> {
    const proxy = new CuttingSocket(`${socketDirectory()}/proxy.sock`);
    const server = createServer((client) => proxy.pass(client, connect(target)));
    await new Promise<void>((resolve) => server.listen(proxy.path, resolve));
    closeLater(server, () => {
      proxy.cutAll();
      server.close();
    });
    return proxy;
  }
}
