import * as z from 'zod';
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

/** The parts of the demo gateway. */
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
  /** Ends the process like a crash, if something restarts it. */
  readonly kill?: (() => void) | undefined;
}

/** The gateway that `npm start` runs. A typed client of the demo imports its type. */
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
    // Only for admins: an import may contain answers that no app ever gave.
    clientMessages: { import: isAdmin, toolOutputs: isAdmin },
    shareLinks: { upTo: 'member' },
    oversight: isAdmin,
    channels: { announcements: z.object({ text: z.string() }) },
  });
  for (const { plugin } of doors) gateway.use(plugin());
  return gateway.use(playgroundPlugin({ path: '/', traces: true, ...(kill && { kill: forAdmins(kill) }) }));
}

function isAdmin({ roles }: { readonly roles?: readonly string[] }): boolean {
  return roles?.includes('admin') === true;
}

/** Lets only an admin end the process, because that affects all users. */
function forAdmins(kill: () => void): (user: { readonly roles?: readonly string[] }) => void {
  return (user) => {
    if (!isAdmin(user)) {
      const message = 'Only an admin kills the server: open the link with the other token';
      throw new GatewayError({ code: 'ACCESS_DENIED', message });
    }
    kill();
  };
}

export type DemoGateway = ReturnType<typeof createDemoGateway>;
