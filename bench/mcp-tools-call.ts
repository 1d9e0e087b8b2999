import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type EventStore, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { createGateway, defineApp, tool } from '../server/index.js';
import { mcpServerPlugin } from '../server/plugins/mcp/index.js';

// npx tsx bench/mcp-tools-call.ts [rounds] [ms] [concurrency]: `tools/call` of mcpServerPlugin against the SDK's own server with
// the same features (a token, a validated input, and with sessions an event store), each in a process of its own, rounds
// interleaved. Ratios are medians over the rounds, against the SDK's server of the same kind; CPU is the server's, for each call.

const TOKEN = 'a-benchmark-token-of-more-than-32-bytes';
const KINDS = ['sdk-sessions', 'ours-sessions', 'sdk-stateless', 'ours-stateless'] as const;
type Kind = (typeof KINDS)[number];

const [role = '5', ...args] = process.argv.slice(2);
if ((KINDS as readonly string[]).includes(role)) await serve(role as Kind);
else await compare(Number(role), Number(args[0] ?? 3000), Number(args[1] ?? 32));

interface Sample {
  readonly perSecond: number;
  readonly cpuMicros: number;
}

async function compare(rounds: number, ms: number, concurrency: number): Promise<void> {
  const peers = await Promise.all(KINDS.map(startPeer));
  const samples = new Map<Kind, Sample[]>(KINDS.map((kind) => [kind, []]));
  for (const peer of peers) await measure(peer, ms, concurrency);
  for (let round = 0; round < rounds; round++) {
    for (const peer of round % 2 ? [...peers].reverse() : peers)
      samples.get(peer.kind)!.push(await measure(peer, ms, concurrency));
  }
  console.log(`${rounds} rounds of ${ms} ms, ${concurrency} connections, Node ${process.version}`);
  for (const kind of KINDS) {
    const own = samples.get(kind)!;
    const bare = samples.get(kind.replace('ours', 'sdk') as Kind)!;
    const ratio = (field: keyof Sample) =>
      median(own.map((it, at) => it[field] / bare[at]![field])).toFixed(2);
    console.log(
      `${kind.padEnd(15)} ${median(own.map((it) => it.perSecond))
        .toFixed(0)
        .padStart(6)} calls/s, ratio ${ratio('perSecond')}; ` +
        `${median(own.map((it) => it.cpuMicros))
          .toFixed(0)
          .padStart(5)} us CPU/call, ratio ${ratio('cpuMicros')}`,
    );
  }
  for (const { child } of peers) child.kill();
}

interface Peer {
  readonly kind: Kind;
  readonly child: ChildProcess;
  readonly port: number;
}

async function startPeer(kind: Kind): Promise<Peer> {
  const child = fork(fileURLToPath(import.meta.url), [kind], { execArgv: ['--import', 'tsx'] });
  const port = await new Promise<number>((resolve) =>
    child.once('message', (it) => resolve((it as { port: number }).port)),
  );
  return { kind, child, port };
}

/** Server CPU so far, in microseconds. */
function cpuOf({ child }: Peer): Promise<number> {
  return new Promise((resolve) => {
    child.once('message', (it) => resolve((it as { cpu: number }).cpu));
    child.send('cpu');
  });
}

async function measure(peer: Peer, ms: number, concurrency: number): Promise<Sample> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const clients = await Promise.all(Array.from({ length: concurrency }, () => connect(peer, agent)));
  const before = await cpuOf(peer);
  const began = performance.now();
  let calls = 0;
  await Promise.all(
    clients.map(async (call) => {
      while (performance.now() - began < ms) {
        await call();
        calls += 1;
      }
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  const cpu = (await cpuOf(peer)) - before;
  agent.destroy();
  return { perSecond: calls / seconds, cpuMicros: cpu / calls };
}

/** A client of its own, with a session where the kind has them; returns how it calls. */
async function connect({ kind, port }: Peer, agent: Agent): Promise<() => Promise<void>> {
  const params = { name: 'add', arguments: { a: 2, b: 40 } };
  const check = async (answer: Promise<{ body: string }>): Promise<void> => {
    const { body } = await answer;
    if (!body.includes('"sum":42')) throw new Error(body);
  };
  if (kind.endsWith('stateless')) {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { ...params, _meta },
    });
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'add' };
    return () => check(post(port, agent, body, headers));
  }
  const initialize = {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
  };
  const opened = await post(port, agent, JSON.stringify(initialize), {});
  const headers = {
    'mcp-session-id': String(opened.headers['mcp-session-id']),
    'mcp-protocol-version': '2025-11-25',
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return () => check(post(port, agent, body, headers));
}

function post(
  port: number,
  agent: Agent,
  body: string,
  headers: Record<string, string>,
): Promise<{ headers: IncomingMessage['headers']; body: string }> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      path: '/mcp',
      method: 'POST',
      agent,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'content-length': Buffer.byteLength(body),
        ...headers,
      },
    };
    request(options, (response) => {
      let text = '';
      response
        .setEncoding('utf8')
        .on('data', (chunk: string) => {
          text += chunk;
        })
        .on('end', () => resolve({ headers: response.headers, body: text }));
    })
      .on('error', reject)
      .end(body);
  });
}

async function serve(kind: Kind): Promise<void> {
  const port = kind.startsWith('ours') ? await serveOurs() : await serveSdk(kind);
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send!({ cpu: user + system });
  });
  process.send!({ port });
}

async function serveOurs(): Promise<number> {
  const app = defineApp({
    run: () => 'unused',
    tools: {
      add: tool({
        schema: z.object({ a: z.number(), b: z.number() }),
        handler: ({ a, b }) => ({ sum: a + b }),
      }),
    },
  });
  const gateway = createGateway({
    app,
    port: 0,
    auth: { type: 'token', token: TOKEN },
    limits: { invokesPerSecond: Number.POSITIVE_INFINITY },
  });
  const limits = { sessionsPerUser: Number.POSITIVE_INFINITY, sessions: Number.POSITIVE_INFINITY };
  gateway.use(mcpServerPlugin({ sessionId: 'main', limits }));
  return (await gateway.start()).port!;
}

function sdkServer(): McpServer {
  const server = new McpServer({ name: 'bare', version: '1' });
  server.registerTool('add', { inputSchema: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => {
    const structuredContent = { sum: a + b };
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  });
  return server;
}

async function serveSdk(kind: Kind): Promise<number> {
  const handle =
    kind === 'sdk-sessions'
      ? sdkSessions()
      : toNodeHandler(createMcpHandler(sdkServer, { legacy: 'reject' }));
  const server = createServer((incoming, response) => {
    if (incoming.headers.authorization === `Bearer ${TOKEN}`) void handle(incoming as never, response);
    else response.writeHead(401).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return (server.address() as AddressInfo).port;
}

function sdkSessions(): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const transports = new Map<string, NodeStreamableHTTPServerTransport>();
  return async (incoming, response) => {
    let transport = transports.get(String(incoming.headers['mcp-session-id']));
    if (!transport) {
      const opened = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void transports.set(id, opened),
        eventStore: new KeepingStore(),
        retryInterval: 1000,
      });
      await sdkServer().connect(opened);
      transport = opened;
    }
    await transport.handleRequest(incoming, response);
  };
}

/** As the SDK's examples have it, but bounded. */
class KeepingStore implements EventStore {
  readonly #kept = new Map<string, { readonly streamId: string; readonly message: unknown }>();

  async storeEvent(streamId: string, message: unknown): Promise<string> {
    const id = randomUUID();
    this.#kept.set(id, { streamId, message });
    if (this.#kept.size > 256) this.#kept.delete(this.#kept.keys().next().value!);
    return id;
  }

  async replayEventsAfter(id: string): Promise<string> {
    return this.#kept.get(id)?.streamId ?? '';
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}
