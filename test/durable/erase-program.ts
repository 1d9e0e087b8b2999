import { createGateway, defineApp, type Gateway, type Store } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { TOKEN } from '../support/gateway.js';
import { overriding } from '../support/overriding.js';
import { userNamed } from '../support/users.js';
import '../support/shipped-limits.js';

// erase-program <database> [forgetful]: a gateway that erases users when it is asked to; the forgetful one does not note it first.
const [, , path, how] = process.argv;

const app = defineApp({ run: (turn) => `${turn.text}: ${'said '.repeat(2000)}` });

const forgetful = (store: Store): Store => overriding(store, { changeRecords: () => true });

const store = sqliteStore({ path: path! });
const gateway: Gateway<any, any, any> = createGateway({
  app,
  port: 0,
  auth: {
    type: 'custom',
    cookies: false,
    validate: async (token) => ({ valid: true, user: userNamed(token ?? TOKEN) }),
  },
  store: how === 'forgetful' ? forgetful(store) : store,
  limits: { sendsPerSecond: Number.POSITIVE_INFINITY },
  methods: {
    erase: async (params: unknown) => gateway.erase({ user: { id: (params as { id: string }).id } }),
  },
});
console.log('listening', (await gateway.start()).url);
