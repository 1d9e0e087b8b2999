import { get } from '../support/gateway.js';

/** What `/readyz` says, in short. */
export const readiness = async (url: string): Promise<string> => {
  const { status, body } = await get(`${url}/readyz`);
  return status === 200 ? 'ready' : `${status} ${body.error.code} ${body.error.details.reason}`;
};

/** Asks until the answer is another one: nothing tells of it, and mocha's own time-out ends a wait for what never comes. */
export async function becomes(url: string, expected: string): Promise<void> {
  while ((await readiness(url)) !== expected) await new Promise((resolve) => setTimeout(resolve, 50));
}
