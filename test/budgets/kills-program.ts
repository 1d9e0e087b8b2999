// A gateway as a process of its own: kills-program.ts <place of the store> <port> <address of the provider>
import { createGateway, defineApp, type Gateway, method } from '../../server/index.js';
import { storeAt } from '../support/store-at.js';
import { byName } from '../support/users.js';
import '../support/shipped-limits.js';

const [place = '', port = '', provider = ''] = process.argv.slice(2);

/** A call of a model, which the provider counts. */
const call = async (id: string): Promise<number> => Number(await (await fetch(`${provider}/${id}`)).text());

/** Makes as many calls as its message says. Each second one is told within its step, so that it is made again if that breaks off. */
const app = defineApp({
  resumable: true,
  async run(turn) {
    for (let n = 1; n <= Number(turn.text); n += 1) {
      const id = `${turn.user!.id}/${turn.runId}/${n}`;
      if (n % 2 === 0) {
        await turn.step('call', async () => {
          const inputTokens = await call(`again/${id}`);
          await turn.usage({ model: 'again', inputTokens, cost: inputTokens / 1000, currency: 'USD' });
          await call(`told/${id}`);
        });
        continue;
      }
      const inputTokens = await turn.step('call', () => call(`once/${id}`));
      await turn.usage({
        id: `call ${n}`,
        model: 'once',
        inputTokens,
        cost: inputTokens / 1000,
        currency: 'USD',
      });
    }
    return 'done';
  },
});

const gateway: Pick<Gateway, 'start' | 'usage' | 'budgets'> = createGateway({
  ...{ app, store: storeAt(place), port: Number(port), auth: byName },
  budgets: [
    { name: 'all', per: 'app', period: 'ever', limit: { tokens: 1e9 }, reached: 'stop' },
    {
      name: 'own',
      per: 'person',
      period: 'month',
      zone: 'Asia/Tokyo',
      limit: { cost: 1e6 },
      reached: 'warn',
    },
    { name: 'run', per: 'session', period: 'run', limit: { cost: 1e6 }, reached: 'ask' },
  ],
  methods: {
    sums: method({ handler: (query: object): Promise<unknown> => gateway.usage(query) }),
    limit: method({
      handler: ({ tokens }: { readonly tokens: number }): Promise<void> =>
        gateway.budgets.set({ name: 'all', per: 'app', period: 'ever', limit: { tokens }, reached: 'stop' }),
    }),
  },
});
await gateway.start();
process.send!('started');
