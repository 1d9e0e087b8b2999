/** What registers tests: the functions of mocha, vitest, Jest or `node:test`. */
export interface TestRunner {
  describe(title: string, body: () => void): unknown;
  it(title: string, body: () => Promise<void> | void): unknown;
  beforeEach(body: () => Promise<void> | void): unknown;
  afterEach(body: () => Promise<void>): unknown;
}

let runner: TestRunner;
const open: (() => unknown)[] = [];

/** Has a suite register its tests with a runner. */
export function runWith(given: TestRunner): void {
  runner = given;
}

export const describe: TestRunner['describe'] = (title, body) => runner.describe(title, body);
export const it: TestRunner['it'] = (title, body) => runner.it(title, body);
export const beforeEach: TestRunner['beforeEach'] = (body) => runner.beforeEach(body);
export const afterEach: TestRunner['afterEach'] = (body) => runner.afterEach(body);

/** Has something closed after the running test, last opened first. */
export function closeLater<T>(resource: T, close: (resource: T) => unknown): T {
  open.push(() => close(resource));
  return resource;
}

/** Closes what a test has left. */
export async function closeAll(): Promise<void> {
  for (const close of open.splice(0).reverse()) await close();
}

/** Resolves once a condition holds that nothing tells of; never after the running test has ended. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  let isOver = false;
  closeLater(condition, () => {
    isOver = true;
  });
  while (!isOver && !(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}
