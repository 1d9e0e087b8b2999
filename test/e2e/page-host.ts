import { createServer } from 'node:http';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { createGateway, type Gateway, type GatewayConfig } from '../../server/index.js';
import { listenWith } from '../support/host-server.js';
import { ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';

/** Bundles a browser script that imports the client by the package's name. */
async function bundle(script: string, plugins: Plugin[]): Promise<Uint8Array> {
  const { outputFiles } = await build({
    stdin: { contents: script, resolveDir: ROOT, loader: 'ts' },
    absWorkingDir: ROOT,
    nodePaths: [join(ROOT, 'test/node_modules')],
    bundle: true,
    format: 'esm',
    write: false,
    plugins,
  });
  return outputFiles[0]!.contents;
}

/** What a page holds before its script runs, and the gateway behind it. */
export interface PageConfig extends Pick<GatewayConfig, 'app' | 'limits' | 'methods' | 'allowedHosts'> {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Of esbuild, for the script. */
  readonly plugins?: Plugin[] | undefined;
  /** Rendered at each request. */
  readonly body?: ((gateway: Gateway) => string | Promise<string>) | undefined;
}

/** Serves a page with a script, and a gateway of the same origin below /agent. Closed after the test. */
export async function servePage(
  script: string,
  { body = () => '', plugins = [], headers = {}, ...config }: PageConfig,
  prepare: (gateway: Gateway) => void = () => {},
): Promise<string> {
  // Whoever leaves a page may leave a run open.
  const limits = { drainMs: 200, ...config.limits };
  const gateway = createGateway({ embedded: true, auth: { type: 'none' }, ...config, limits });
  closeLater(gateway, (it) => it.close());
  prepare(gateway);
  const source = await bundle(script, plugins);
  const server = createServer(async (request, response) => {
    if (request.url === '/') {
      response.setHeaders(new Headers({ 'Content-Type': 'text/html; charset=utf-8', ...headers }));
      response.end(
        `<!doctype html><link rel="icon" href="data:,"><body>${await body(gateway)}<script type="module" src="/page.js"></script>`,
      );
    } else if (request.url === '/page.js') {
      response.setHeader('Content-Type', 'text/javascript; charset=utf-8').end(source);
    } else {
      gateway.handleRequest(request, response, { basePath: '/agent' });
    }
  });
  server.on('upgrade', (request, socket, head) => {
    gateway.handleUpgrade(request, socket, head, { basePath: '/agent' });
  });
  return listenWith(server);
}
