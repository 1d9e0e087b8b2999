import { channels } from '../../server/diagnostics/index.js';
import { createGateway, method } from '../../server/index.js';
import { echo } from '../support/apps.js';

/** A program all of whose subscribers throw. */
for (const name of ['operation', 'run', 'tool', 'append'] as const) {
  const fail = (event: string) => () => {
    throw new TypeError(`of ${name} ${event}`);
  };
  channels[name].subscribe({ start: fail('start'), end: fail('end'), asyncEnd: fail('asyncEnd') });
}
process.on('uncaughtException', (error) => console.log(`uncaught: ${error.message}`));

const gateway = createGateway({
  embedded: true,
  auth: { type: 'none' },
  app: echo,
  methods: { one: method({ handler: () => 1 }) },
});
const { message } = await gateway.session('main').send('hello').result;
const answer = message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
console.log(`answered: ${answer}`);
const response = await gateway.fetch(
  new Request('http://localhost/invoke', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ method: 'one' }),
  }),
);
console.log(`invoked: ${await response.text()}`);
await gateway.close();
