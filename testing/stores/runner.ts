/** The functions that register tests, from mocha, vitest, Jest or `node:test`. */
export interface TestRunner {
  describe(title: string, body: () => void): unknown;
  it(title: string, body: () => Promise<void> | void): unknown;
  beforeEach(body: () => Promise<void> | void): unknown;
  afterEach(body: () => Promise<void>): unknown;
}

let runner: TestRunner;
const open: (() => unknown)[] = [];

/** Sets the runner with which suites register their tests. */
export function runWith(given: TestRunner): void {
  runner = given;
}

export const describe: TestRunner['describe'] = (title, body) => runner.describe(title, body);
export const it: TestRunner['it'] = (title, body) => runner.it(title, body);
export const beforeEach: TestRunner['beforeEach'] = (body) => runner.beforeEach(body);
export const afterEach: TestRunner['afterEach'] = (body) => runner.afterEach(body);

/** Closes a resource after the running test, the last opened first. */
export function closeLater<T>(resource: T, close: (resource: T) => unknown): T {
  open.push(() => close(resource));
  return resource;
}

/** Closes the resources that a test left open. */
export async function closeAll(): Promise<void> {
  for (const close of open.splice(0).reverse()) await close();
}

/** Resolves once a condition without an event holds; never after the end of the running test. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  let isOver = false;
  closeLater(condition, () => {
    isOver = true;
  });
  while (!isOver && !(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}
