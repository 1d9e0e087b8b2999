// A gateway with the default logger, whose method fails with what it is told.
import { createGateway, defineApp } from '../../server/index.js';
import { TOKEN } from '../support/gateway.js';

let failed = 0;
const gateway = createGateway({
  port: 0,
  auth: { type: 'token', token: TOKEN },
  app: defineApp({ run: () => 'ok' }),
  methods: {
    fail: (params: never) => {
      failed += 1;
      if (failed === 4) setTimeout(() => process.stdout.write('\nEND OF LOG\n'), 0);
      const { text } = params as { text: string };
      throw Object.assign(new Error(text), { name: text, stack: text, code: text });
    },
  },
});
const { url } = await gateway.start();
process.stdout.write(`URL ${url}\n`);
