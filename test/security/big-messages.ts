import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { post } from '../support/gateway.js';

export const MB = 1024 * 1024;

/** Puts messages of a megabyte each into a session. */
export async function fill(url: string, count: number, sessionId = 'main'): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { status } = await post(`${url}/send`, { sessionId, message: 'm'.repeat(900_000) });
    expect(status).to.equal(200);
  }
}

/** An app that says next to nothing to them. */
export const quiet = defineApp({ run: () => 'ok' });
