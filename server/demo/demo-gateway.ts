import { z } from 'zod';
import {
  type Application,
  createGateway,
  type FileStore,
  GatewayError,
  type LimitsInput,
  type Logger,
  type Store,
} from '../index.js';
import { playgroundPlugin } from '../plugins/playground/index.js';
import { type DemoTokens, demoAuth } from './access.js';
import { DOORS, type Door } from './doors.js';
import { createTaskMethods } from './tasks.js';

/** What the demo gateway is made of. */
export interface DemoOptions {
  readonly app: Application;
  readonly tokens: DemoTokens;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly limits?: LimitsInput | undefined;
  readonly store?: Store | undefined;
  readonly files?: FileStore | undefined;
  readonly logger?: Logger | undefined;
  /** @default all */
  readonly doors?: readonly Door[] | undefined;
  /** Ends the process as a crash would, where something starts it again. */
  readonly kill?: (() => void) | undefined;
}

/** The gateway that `npm start` runs. Its type is what a typed client of the demo imports. */
export function createDemoGateway(options: DemoOptions) {
  const { app, tokens, host, port, limits, store, files, logger, doors = DOORS, kill } = options;
  const gateway = createGateway({
    apps: { demo: app },
    defaultApp: 'demo',
    host,
    port,
    limits,
    store,
    files,
    logger,
    auth: demoAuth(tokens),
    methods: createTaskMethods(),
    // What is imported may say what no app ever said.
    clientMessages: { import: ({ roles }) => roles?.includes('admin') === true },
    shareLinks: { upTo: 'member' },
    channels: { announcements: z.object({ text: z.string() }) },
  });
  for (const { plugin } of doors) gateway.use(plugin());
  return gateway.use(playgroundPlugin({ path: '/', ...(kill && { kill: forAdmins(kill) }) }));
}

/** What only an admin may do to the others. */
function forAdmins(kill: () => void): (user: { readonly roles?: readonly string[] }) => void {
  return ({ roles }) => {
    if (!roles?.includes('admin')) {
      const message = 'Only an admin kills the server: open the link with the other token';
      throw new GatewayError({ code: 'ACCESS_DENIED', message });
    }
    kill();
  };
}

export type DemoGateway = ReturnType<typeof createDemoGateway>;
