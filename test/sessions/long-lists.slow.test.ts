import { expect } from 'chai';
import { echo } from '../support/apps.js';
import { FAST, get, post, startGateway } from '../support/gateway.js';

const MANY = 120;

/** A gateway with many sessions. @param bytes Size of the metadata of each */
async function begin(bytes: number) {
  const { url } = await startGateway({ app: echo, limits: FAST });
  for (let n = 0; n < MANY; n += 1) {
    await post(`${url}/send`, { sessionId: `s${n}`, message: 'hi' }, { prefer: 'respond-async' });
    if (bytes > 0) await post(`${url}/update`, { sessionId: `s${n}`, metadata: { note: 'x'.repeat(bytes) } });
  }
  const page = async (limit: number, before?: string): Promise<{ ids: string[]; cursor: string | null }> => {
    const { body } = await get(`${url}/sessions?limit=${limit}${before ? `&before=${before}` : ''}`);
    return { ids: body.sessions.map(({ sessionId }: any) => sessionId), cursor: body.cursor };
  };
  /** All pages, each with the number of its sessions. */
  const all = async (limit: number) => {
    const ids: string[] = [];
    const sizes: number[] = [];
    for (let before: string | undefined; ; ) {
      const found = await page(limit, before);
      ids.push(...found.ids);
      sizes.push(found.ids.length);
      if (found.cursor === null) return { ids, sizes };
      before = found.cursor;
    }
  };
  return { page, all };
}

describe('a long list of sessions', () => {
  it('has as many on a page as are asked for, and each once', async () => {
    const { all } = await begin(0);
    for (const [limit, sizes] of [
      [1000, [120]],
      [120, [120]],
      [70, [70, 50]],
      [50, [50, 50, 20]],
    ] as const) {
      const listed = await all(limit);
      expect(listed.sizes.filter((size) => size > 0)).to.deep.equal(sizes);
      expect(new Set(listed.ids).size).to.equal(MANY);
      expect(listed.ids).to.have.length(MANY);
    }
  });

  it('ends a page where it grows heavy, and goes on behind it', async () => {
    const { all } = await begin(8000);
    const { ids, sizes } = await all(1000);
    expect(sizes.length).to.be.above(1);
    expect(ids).to.have.length(MANY);
    expect(new Set(ids).size).to.equal(MANY);
  });
});
