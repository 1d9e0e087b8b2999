// A page that talks to its gateway on the same origin.
//   npx tsx examples/browser-page/server.ts
// With DATABASE=chat.db conversations outlive the server.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createGateway, defineApp, GatewayError, ToolCallError, tool } from 'agent-session-gateway';
import { sqliteStore } from 'agent-session-gateway/stores/sqlite';
import { build } from 'esbuild';
import { z } from 'zod';

const { DATABASE, PORT = 3000 } = process.env;

const gateway = createGateway({
  embedded: true,
  ...(DATABASE && { store: sqliteStore({ path: DATABASE }) }),
  auth: { type: 'none' },
  app: defineApp({
    tools: {
      delete: tool({
        schema: z.object({ file: z.string() }),
        confirm: true,
        confirmMessage: ({ file }) => `Delete ${file}?`,
        handler: ({ file }) => `${file} is gone (not really).`,
      }),
    },
    async *run(turn) {
      const [command, file = 'report.txt'] = turn.text.split(' ');
      if (command === 'fail') throw new GatewayError({ code: 'INTERNAL', message: 'It went wrong' });
      if (command === 'delete') {
        try {
          yield await turn.callTool('delete', { file });
        } catch (error) {
          if (!(error instanceof ToolCallError && error.denied)) throw error;
          yield `${file} stays.`;
        }
        return;
      }
      for (const word of `You said: ${turn.text}`.split(' ')) {
        await delay(50, undefined, { signal: turn.signal });
        yield `${word} `;
      }
    },
  }),
});

const html = await readFile(new URL('index.html', import.meta.url));
const bundle = await build({
  entryPoints: [fileURLToPath(new URL('page.ts', import.meta.url))],
  bundle: true,
  format: 'esm',
  write: false,
});
const script = bundle.outputFiles[0]!.contents;

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/') response.setHeader('Content-Type', 'text/html; charset=utf-8').end(html);
  else if (pathname === '/page.js') response.setHeader('Content-Type', 'text/javascript').end(script);
  else gateway.handleRequest(request, response, { basePath: '/agent' });
});
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('SIGTERM', async () => {
  await gateway.close();
  server.close();
  server.closeAllConnections();
});
