import { expect } from 'chai';
import { collect } from '../../support/client.js';
import { expiringToken } from '../../support/expiring-token.js';
import { actor, STORES } from '../actor.js';
import { framesIn, framesOf, MAJORS, plain, startResponses } from './fixtures.js';

const SCRIPT = 'think hello look data bye';

describe('a response whose stream is cut off', () => {
  for (const major of MAJORS)
    it(`is whole in the helper of openai ${major.major}, which asks for all of it and leaves out what it has`, async () => {
      const { app } = actor();
      const gateway = await startResponses({ app });
      const client = gateway.client(major);
      const uncut = plain(
        await collect(await client.responses.create({ model: 'default', input: SCRIPT, stream: true })),
      );
      for (const [at, { sequence_number }] of uncut.entries()) {
        const stream = client.responses.stream({
          response_id: uncut[0].response.id,
          starting_after: sequence_number,
        });
        const rest = plain(await collect(stream)).map(({ snapshot: _, ...event }: any) => event);
        expect(rest).to.deep.equal(uncut.slice(at + 1));
      }
    });

  it('is never ended cleanly before its last event: a reader whose token expires is cut', async () => {
    const { auth, limits, expire } = expiringToken();
    const gateway = await startResponses({ app: actor().app, auth, limits });
    const response = await gateway.post({ model: 'default', input: 'a ask b', stream: true });
    const decoder = new TextDecoder();
    let text = '';
    const reading = (async () => {
      for await (const bytes of response.body!) {
        text += decoder.decode(bytes, { stream: true });
        if (text.includes('response.output_text.delta')) expire();
      }
    })();
    expect(await reading.catch((error) => error)).to.be.instanceOf(TypeError);
    expect(framesIn(text).at(-1)).to.include({ type: 'response.output_text.delta', delta: 'a ' });
  });
});

describe('a request that comes again', () => {
  for (const [store, make] of STORES) {
    it(`under its key is told the same, and runs once, whatever it begins: ${store}`, async () => {
      const { app, effects } = actor();
      const gateway = await startResponses({ app, store: make() });
      const headers = { 'idempotency-key': 'k1' };
      const first = { model: 'default', input: 'look', stream: true };
      const one = await framesOf(await gateway.post(first, { headers }));
      expect(await framesOf(await gateway.post(first, { headers }))).to.deep.equal(one);
      const { id } = one[0].response;
      for (const key of ['next', 'branch', 'named']) {
        const more = key === 'named' ? { conversation: 'conv_a' } : { previous_response_id: id };
        const body = { model: 'default', input: `look ${key}`, stream: true, ...more };
        const keyed = { headers: { 'idempotency-key': key } };
        const [a, b] = await Promise.all(
          [gateway.post(body, keyed), gateway.post(body, keyed)].map(async (it) => framesOf(await it)),
        );
        expect(b).to.deep.equal(a);
        expect(await framesOf(await gateway.post(body, keyed))).to.deep.equal(a);
      }
      expect(effects).to.deep.equal(['look', 'look', 'look', 'look']);
      const other = await gateway.post({ ...first, input: 'other' }, { headers });
      expect([other.status, (await other.json()).error.code]).to.deep.equal([422, 'idempotency_conflict']);
    });

    it(`with the whole conversation of a named session joins its run: ${store}`, async () => {
      const { app, effects } = actor();
      const gateway = await startResponses({ app, store: make() });
      const headers = { 'x-session-id': 'mine' };
      const input = [{ role: 'user', content: 'look' }];
      const one = await (await gateway.post({ input }, { headers })).json();
      const next = {
        input: [
          ...input,
          { role: 'assistant', content: one.output.at(-1).content },
          { role: 'user', content: 'look on' },
        ],
      };
      const keyed = { headers: { ...headers, 'idempotency-key': 'k' } };
      const two = await (await gateway.post(next, keyed)).json();
      expect(await (await gateway.post(next, keyed)).json()).to.deep.equal(two);
      expect(effects).to.have.length(2);
    });
  }

  for (const major of MAJORS)
    it(`from openai ${major.major} by itself, after a lost connection, runs once`, async () => {
      const { app, effects } = actor();
      const gateway = await startResponses({ app });
      let lost = 1;
      const losing: typeof fetch = async (input, init) => {
        const response = await fetch(input, init);
        if (lost-- <= 0) return response;
        await response.text();
        throw new TypeError('the connection was lost');
      };
      const client = gateway.client(major, { maxRetries: 2, fetch: losing });
      const response = await client.responses.create({ model: 'default', input: 'look' });
      expect(response.status).to.equal('completed');
      expect(effects).to.deep.equal(['look']);
      // Two equal questions are two.
      const other = await client.responses.create({ model: 'default', input: 'look' });
      expect(other.id).to.not.equal(response.id);
      expect(effects).to.have.length(2);
    });
});
