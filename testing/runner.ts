import { testGateway } from './test-gateway.js';

/** Registers a function to be called after each test: `afterEach` of mocha, vitest, Jest or `node:test`. */
export type AfterEach = (close: () => Promise<void>) => unknown;

/**
 * Makes `testGateway` for a file of tests. The gateways of each test are closed after it, whether it passes or fails.
 *
 * @example
 * ```ts
 * import { afterEach } from 'node:test';
 * const start = testGateways(afterEach);
 * const gateway = await start({ app });
 * ```
 */
export function testGateways(afterEach: AfterEach): typeof testGateway {
  const open: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const gateway of open.splice(0).reverse()) await gateway.close();
  });
  return async (options) => {
    const gateway = await testGateway(options);
    open.push(gateway);
    return gateway;
  };
}
