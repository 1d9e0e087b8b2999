import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import { createGateway, type GatewayConfig } from '../../server/index.js';
import { ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';

/** Bundles a browser script that imports the client by the package's name. */
async function bundle(script: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    stdin: { contents: script, resolveDir: ROOT, loader: 'ts' },
    absWorkingDir: ROOT,
    bundle: true,
    format: 'esm',
    write: false,
  });
  return outputFiles[0]!.contents;
}

/** Serves a page with a script, and a gateway of the same origin below /agent. Closed after the test. */
export async function servePage(
  script: string,
  config: Pick<GatewayConfig, 'app' | 'limits'>,
): Promise<string> {
  const gateway = createGateway({ embedded: true, auth: { type: 'none' }, ...config });
  closeLater(gateway, (it) => it.close());
  const source = await bundle(script);
  const server = createServer((request, response) => {
    if (request.url === '/') {
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      response.end(
        '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>',
      );
    } else if (request.url === '/page.js') {
      response.setHeader('Content-Type', 'text/javascript; charset=utf-8').end(source);
    } else {
      gateway.handleRequest(request, response, { basePath: '/agent' });
    }
  });
  closeLater(server, (it) => {
    it.close();
    it.closeAllConnections();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
