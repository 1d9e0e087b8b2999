import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  type Application,
  createGateway,
  defineApp,
  type Gateway,
  type GatewayConfig,
  method,
  tracked,
} from 'agent-session-gateway';
import { type Client, createClient, type Watch } from 'agent-session-gateway/client';
import type { LanguageModel } from 'ai';
import { z } from 'zod';
import { ChatEndpoint } from '../support/chat-endpoint.js';
import { standFor } from './harbour.js';

/** What the pages' own application would have behind it, as far as their blocks ask it. */
class Database {
  readonly #titles: string[] = [];
  async orders(_name: string, _signal?: AbortSignal): Promise<readonly string[]> {
    return ['a book', 'a map'];
  }
  async userOf(token: string | undefined): Promise<{ id: number } | undefined> {
    return token === 'nobody' ? undefined : { id: 7 };
  }
  async ban(user: string): Promise<void> {
    this.#titles.push(`${user} is banned`);
  }
  async create(title: string, _user?: string): Promise<number> {
    return this.#titles.push(title);
  }
  async archive(_before: string): Promise<number> {
    return this.#titles.length;
  }
  async lastChange(_listId: string): Promise<number> {
    return 0;
  }
  async *changes(_listId: string, { after = '0' }: { after?: string; signal?: AbortSignal } = {}) {
    for (const id of [1, 2, 3])
      if (id > Number(after)) yield { id, title: `Change ${id}`, toString: () => `Change ${id}` };
  }
  async createOrder(_text: string, _options: { idempotencyKey: string }): Promise<{ id: string }> {
    return { id: 'o1' };
  }
  async charge(
    order: string,
    _options: { idempotencyKey: string; signal: AbortSignal },
  ): Promise<{ number: string }> {
    return { number: `r-${order}` };
  }
  async reserve(_order: string): Promise<void> {}
  /** What a gateway answered to a send. */
  async accepted(): Promise<unknown> {
    const { runId, message, position, cursor } = await client.send('main', 'Hello').accepted;
    return { runId, message, position, cursor };
  }
  readonly refund = async (order: string, _user?: string) => `${order} is paid back`;
  readonly remove = async (path: string) => `${path} is removed`;
  readonly erase = async (path: string) => `${path} is erased`;
  readonly note = async (text: string) => `noted: ${text}`;
}

export let db: Database;
export let app: Application;
export let gateway: Gateway<any, any, any>;
export let client: Client;
export let watch: Watch;
export let model: LanguageModel;
/** The page's own log-in. */
export const auth = { token: () => 'a-token', renew: async () => 'another-token' };
export const login = { load: async () => 'a-token', renew: async () => 'another-token' };

/** Answers with what it was told, and does what the texts of some messages say. */
function assistant(): Application {
  return defineApp({
    async *run(turn) {
      const [tool] = turn.clientTools ?? [];
      if (tool) yield JSON.stringify(await turn.callTool(tool.name, {}));
      else if (turn.text === 'confirm') await turn.confirm({ name: 'erase', input: { path: 'notes.txt' } });
      else if (turn.text === 'ask') await turn.ask({ name: 'day', payload: 'Which day?' });
      else for (const word of `You said: ${turn.text}`.split(' ')) yield `${word} `;
    },
  });
}

const methods = {
  tasks: {
    create: method({
      schema: z.object({ title: z.string().min(1) }),
      result: z.object({ id: z.number() }),
      handler: async ({ title }) => ({ id: await db.create(title) }),
    }),
    list: async () => [],
  },
  changes: method({
    schema: z.object({ listId: z.string() }),
    handler: async function* ({ listId }, { lastEventId }) {
      for await (const { id, title } of db.changes(listId, { after: lastEventId ?? '0' }))
        yield tracked(String(id), { title });
    },
  }),
};

const closing: (() => unknown)[] = [];

/** A page of the world's server, and its script. */
export const shown = { html: '', script: '' as string | Uint8Array };
/** Where the world's server is. */
export let here: string;

/** Serves a gateway where pages expect theirs: below `/agent` of port 3000, and of `https://example.com`. */
async function serve(served: () => Gateway<any, any, any>): Promise<void> {
  const server = createServer((request, response) => {
    if (request.url === '/today') response.end('Sunny');
    else if (request.url === '/')
      response.setHeader('Content-Type', 'text/html; charset=utf-8').end(shown.html);
    else if (request.url === '/page.js')
      response.setHeader('Content-Type', 'text/javascript').end(shown.script);
    else served().handleRequest(request, response, options());
  });
  server.on('upgrade', (request, socket, head) => served().handleUpgrade(request, socket, head, options()));
  await listening(server);
  here = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const origin of ['http://127.0.0.1:3000', 'https://example.com', 'https://weather.example'])
    standFor(origin, here);
  Object.assign(globalThis, {
    location: { href: 'http://127.0.0.1:3000/', origin: 'http://127.0.0.1:3000' },
  });
  closing.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
}

const listening = (server: Server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

const answerAll = async (endpoint: ChatEndpoint) => {
  for (;;) (await endpoint.next()).say('Hello from the model.');
};

let served: Gateway<any, any, any>;
const ADA = { id: 'ada', roles: ['admin'] };
/** A gateway of a page's own may know nobody: there the host says who calls. */
const options = () => ({ basePath: '/agent', ...(served !== gateway && { user: ADA }) });

/** Has a gateway of a block's own page served in place of the world's. */
export function serveInstead(other: Gateway<any, any, any>): void {
  served = other;
}

/** A new world for a block. @param store of its gateway; by default it keeps nothing */
export async function openWorld(store?: GatewayConfig['store']): Promise<void> {
  db = new Database();
  app = assistant();
  gateway = createGateway({
    embedded: true,
    ...(store && { store }),
    app,
    methods,
    clientMessages: { tools: true, parameters: true, import: true },
    auth: { type: 'custom', cookies: false, validate: () => ({ valid: true, user: ADA }) },
    limits: { drainMs: 100 },
  });
  await gateway.start();
  served = gateway;
  await serve(() => served);
  const endpoint = await ChatEndpoint.start();
  void answerAll(endpoint);
  standFor('http://127.0.0.1:11434', endpoint.url);
  model = createOpenAICompatible({ name: 'tiny', baseURL: endpoint.url }).chatModel('tiny');
  client = createClient({ baseUrl: '/agent', token: 'a-token' });
  watch = client.session('main').watch();
}

export async function closeWorld(): Promise<void> {
  client.disconnect();
  await gateway.close();
  for (const close of closing.splice(0)) close();
}
