import { expect } from 'chai';
import { defineApp } from '../../../server/index.js';
import { given } from '../../compaction/support.js';
import { posting } from '../door.js';
import { MAJORS, plain, startResponses } from './fixtures.js';

/** An app that says what it is given. */
const app = defineApp({
  compact: {
    when: () => false,
    make: ({ messages }) => ({
      summary: `sum of ${messages.length}`,
      usage: { inputTokens: 9, outputTokens: 2 },
    }),
  },
  run: (turn) => `<${given([...turn.history, turn.message])}>`,
});

for (const major of MAJORS)
  describe(`compaction for openai ${major.major}`, () => {
    it('covers the conversation of a response, and goes on from it', async () => {
      const { gateway, ...started } = await startResponses({ app });
      const client = started.client(major);
      const first = await client.responses.create({ model: 'default', input: 'one' });
      const second = await client.responses.create({
        input: 'two',
        model: 'default',
        previous_response_id: first.id,
      });
      expect(second.output_text).to.equal('<one <one> two>');
      const compacted = await client.responses.compact({ model: 'default', previous_response_id: second.id });
      expect(plain(compacted)).to.deep.include({ object: 'response.compaction' });
      expect(plain(compacted.usage)).to.include({ input_tokens: 9, output_tokens: 2, total_tokens: 11 });
      expect(compacted.output.map(({ type }) => type)).to.deep.equal(['compaction']);
      const next = { role: 'user' as const, content: 'three' };
      const behind = await client.responses.create({
        model: 'default',
        input: [...compacted.output, next] as any,
      });
      expect(behind.output_text).to.equal('<[sum of 4] three>');
      // Again from the same place, with what was said behind it.
      const also = { role: 'user' as const, content: 'four' };
      const whole = [...compacted.output, next, ...behind.output, also] as any;
      const more = await client.responses.create({ model: 'default', input: whole });
      expect(more.output_text).to.equal('<[sum of 4] three <[sum of 4] three> four>');
      const { sessions } = await gateway.sessions({ user: { id: 'alice' } });
      expect(sessions).to.have.length(2);
    });

    it('covers the items of a request', async () => {
      const client = (await startResponses({ app })).client(major);
      const input = [
        { role: 'user' as const, content: 'one' },
        { role: 'assistant' as const, content: 'ok' },
        { role: 'user' as const, content: 'two' },
      ];
      const { output } = await client.responses.compact({ model: 'default', input });
      const next = { role: 'user' as const, content: 'three' };
      const behind = await client.responses.create({ model: 'default', input: [...output, next] as any });
      expect(behind.output_text).to.equal('<[sum of 3] three>');
    });

    it('is nobody else’s, and no app’s that summarizes nothing', async () => {
      const { ask, post, ...started } = await startResponses({
        apps: { app, plain: { run: () => 'ok' } },
        defaultApp: 'app',
      });
      const client = started.client(major);
      const first = await client.responses.create({ model: 'app', input: 'one' });
      const { output } = await client.responses.compact({ model: 'app', previous_response_id: first.id });
      const next = { role: 'user', content: 'x' };
      const compact = (body: object, init = {}) => ask('/responses/compact', posting(body, init));
      const refusals = [
        await post({ input: [...output, next] }, { user: 'eve' }),
        await post({ input: [...output, next], model: 'plain' }),
        await compact({ previous_response_id: first.id }, { user: 'eve' }),
        await compact({ input: 'x', model: 'plain' }),
        await compact({}),
      ];
      expect(refusals.map(({ status }) => status)).to.deep.equal([400, 400, 400, 400, 400]);
      const texts = await Promise.all(refusals.map((each) => each.text()));
      for (const text of texts) expect(text).not.to.contain('sum of');
    });
  });
