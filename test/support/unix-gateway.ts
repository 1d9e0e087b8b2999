import { createGateway, defineApp } from '../../server/index.js';
import './shipped-limits.js';

/** A program that serves a Unix socket, for tests that kill it. */
const gateway = createGateway({
  embedded: true,
  auth: { type: 'none' },
  socketPath: process.argv[2],
  app: defineApp({
    async *run(turn) {
      yield `${process.pid} heard ${turn.text}`;
    },
  }),
});

gateway.start().then(
  ({ socketPath }) => console.log(`listening on ${socketPath} as ${process.pid}`),
  (error) => {
    console.log(`refused: ${error.code}`);
    process.exit(1);
  },
);
process.on('SIGTERM', () => void gateway.close());
