import { GatewayError } from '../../../shared/errors.js';
import type { AppSummary } from '../../../shared/operation-types.js';
import type { PluginRequest, RouteOptions } from '../../transports/http/plugin-route.js';
import { sendJson } from '../conversation/answering.js';
import { fieldError } from '../conversation/errors.js';
import { readApp, readOnBusy, readPath } from '../conversation/options.js';
import { mountOf, only, partsOf } from '../conversation/urls.js';
import type { GatewayPlugin } from '../plugin.js';
import { type CardFields, cardOf } from './card.js';
import { A2aRoutes } from './routes.js';
import { sendRpcError } from './rpc.js';

/** Options of `a2aPlugin`. */
export interface A2aOptions {
  /** The path of the agents, below the gateway's mount: `/a2a/<app>`. @default '/a2a' */
  readonly path?: string;
  /** The names of the apps that are agents. The card of the first one is the gateway's. @default the default app */
  readonly agents?: readonly string[];
  /** The public address of the gateway's mount, for the cards. @default as the card is asked for */
  readonly url?: string;
  /** Fields of the cards by the names of agents, such as `provider`, `skills` or `securitySchemes`. */
  readonly cards?: Readonly<Record<string, CardFields>>;
  /** The effect of a message that comes while another one is answered in its context. @default 'queue' */
  readonly onBusy?: 'queue' | 'interrupt' | 'reject';
}

const CARD = '/.well-known/agent-card.json';

const HEADERS = { requestHeaders: ['A2A-Version', 'A2A-Extensions'] } satisfies RouteOptions;

/**
 * Serves apps as agents of the A2A protocol, version 1.0, over JSON-RPC: tasks are runs, and contexts are sessions.
 *
 * @throws GatewayError `INVALID_REQUEST` for an invalid option; from `gateway.use` for an agent that is no app
 *
 * @example
 * ```ts
 * gateway.use(a2aPlugin({ agents: ['assistant'], url: 'https://agents.example' }));
 * ```
 */
export function a2aPlugin(options: A2aOptions = {}): GatewayPlugin {
  const path = readPath(options.path ?? '/a2a', '/a2a');
  const { agents, url, cards = {} } = options;
  const onBusy = readOnBusy(options.onBusy);
  if (url !== undefined && !URL.canParse(url)) throw fieldError('url', 'must be an absolute address');
  return {
    name: 'a2a',
    setup(context) {
      const apps = context.apps();
      const served = agents
        ? agents.map((name) => readApp(apps, name, 'agents'))
        : apps.filter(({ isDefault }) => isDefault);
      if (served.length === 0) throw fieldError('agents', 'must name an app');
      for (const name of Object.keys(cards))
        if (!served.some((app) => app.name === name)) throw fieldError(`cards.${name}`, 'is no agent');
      const routes = new A2aRoutes(context, { onBusy });
      const tellCard = (call: PluginRequest, app: AppSummary): void => {
        only('GET', call);
        const base = url?.replace(/\/$/, '') ?? mountOf(call);
        const [fields, pushes] = [cards[app.name], routes.pushes.offered];
        sendJson(call.response, cardOf(app, { url: `${base}${path}/${app.name}`, pushes, fields }));
      };
      const rooted = (call: PluginRequest): void => {
        if (call.path !== CARD) throw new GatewayError({ code: 'ROUTE_NOT_FOUND' });
        tellCard(call, served[0]!);
      };
      context.route(CARD, rooted, { ...HEADERS, methods: ['GET'], needsStore: false });
      const serve = async (call: PluginRequest): Promise<void> => {
        const [name = '', ...rest] = partsOf(call.path.slice(path.length + 1));
        const app = served.find((each) => each.name === name);
        if (app && rest.length > 0 && `/${rest.join('/')}` === CARD) return tellCard(call, app);
        if (!app || rest.length > 0) throw new GatewayError({ code: 'ROUTE_NOT_FOUND' });
        only('POST', call);
        await routes.serve(call, app);
      };
      context.route(path, serve, {
        ...HEADERS,
        methods: ['GET', 'POST'],
        fail: (error, response) => sendRpcError(response, routes.idOf(response), error),
      });
    },
  };
}
