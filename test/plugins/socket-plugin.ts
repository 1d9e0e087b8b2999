import type {
  Dialect,
  GatewayConfig,
  GatewayPlugin,
  PluginContext,
  SocketOptions,
} from '../../server/index.js';
import { echo } from '../support/apps.js';
import { startGateway } from '../support/gateway.js';
import { openWebSocket } from '../support/raw-socket.js';
import { as, byName } from '../support/users.js';

/** Tells each piece of text as a message, up to the end of a run where it tells of one. */
const pieces = (ofRun: boolean): Dialect<null> => ({
  begin: () => ({ state: null, text: '{"begin":true}\n' }),
  encode(_, events) {
    const said = events.flatMap((event) => (event.type === 'content_delta' ? [event.delta] : []));
    const text = said.map((delta) => `${JSON.stringify({ delta })}\n`).join('');
    return { state: null, text, over: ofRun && events.some(({ type }) => type === 'message_end') };
  },
});

/** What a plugin was asked. */
export interface Served {
  /** Who opened sockets, and at which path. */
  readonly opened: string[];
  /** What the streams ended with. */
  readonly ends: unknown[];
}

/** A plugin that says back what is no word of its own. */
export function talker(context: PluginContext, { opened, ends }: Served, options?: SocketOptions): void {
  context.socket(
    '/talk',
    ({ person, path, socket }) => {
      opened.push(`${person.user.id} ${path}`);
      const session = context.session('main', person);
      return {
        async message(text) {
          if (text === 'fail') throw new Error('a fault of the plugin');
          if (text === 'bye') return socket.close(4000, 'BYE');
          if (text !== 'run' && text !== 'follow') return void socket.send(JSON.stringify({ back: text }));
          const { cursor } = await session.send('a b c').accepted;
          const ofRun = text === 'run';
          const stream = session.stream(pieces(ofRun), { socket, from: cursor, follows: !ofRun });
          stream.over.then(
            () => ends.push('over'),
            ({ code }) => ends.push(code),
          );
        },
      };
    },
    options,
  );
}

/** A gateway with that plugin. */
export async function start(config: Partial<GatewayConfig<any, any, any>> = {}, options?: SocketOptions) {
  const started = await startGateway({ app: echo, auth: byName, ...config } as GatewayConfig<any, any, any>);
  const served: Served = { opened: [], ends: [] };
  const plugin: GatewayPlugin = { name: 'talk', setup: (context) => talker(context, served, options) };
  started.gateway.use(plugin);
  return { ...started, ...served };
}

/** Opens one of its sockets. */
export const open = (url: string, user = 'alice', path = '/talk') => openWebSocket(url, path, as(user));
/** What says a message back. */
export const back = (text: string) => (frame: any) => frame.back === text;
