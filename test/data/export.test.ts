import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { expect } from 'chai';
import { echo } from '../support/apps.js';
import { newDatabase } from '../support/durable.js';
import { get, post, startGateway } from '../support/gateway.js';
import { codeOf } from '../support/refused.js';
import { ENGINES } from '../support/stores.js';
import { as, byName } from '../support/users.js';

const ANN = { id: 'ann' };
const SCOPE = JSON.stringify([null, 'ann']);
const limits = { drainMs: 0, sendsPerSecond: Number.POSITIVE_INFINITY };

async function textOf(lines: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const line of lines) text += line;
  return text;
}

const parsed = (text: string): any[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

for (const [name, make] of Object.entries(ENGINES)) {
  describe(`people's data in host code (${name})`, () => {
    const start = (more = {}) => startGateway({ app: echo, store: make(), auth: byName, limits, ...more });

    it('lists the sessions of a user and of a scope, page by page, and those that a filter leaves', async () => {
      const { gateway, url } = await start({
        sessionAccess: (_user: unknown, _session: unknown, operation: string) => operation !== 'sessions',
      });
      for (const sessionId of ['one', 'two', 'three']) {
        const title = `Title ${sessionId}`;
        await gateway.import(sessionId, [{ role: 'user', content: 'hi' }], { user: ANN, title });
      }
      await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('ben'));
      expect((await gateway.sessions({ user: ANN })).sessions, 'what the user may see').to.deep.equal([]);
      const found: string[] = [];
      for (let before: string | undefined; ; ) {
        const page = await gateway.sessions({
          scope: SCOPE,
          limit: 2,
          ...(before !== undefined && { before }),
        });
        found.push(...page.sessions.map(({ sessionId }) => sessionId));
        if (page.cursor === null) break;
        before = page.cursor;
      }
      expect(found).to.have.members(['one', 'two', 'three']);
      const titled = await gateway.sessions({ scope: SCOPE, query: 'title tw' });
      expect(titled.sessions.map(({ sessionId }) => sessionId)).to.deep.equal(['two']);
      expect((await gateway.sessions({ scope: 'nobody' })).sessions).to.deep.equal([]);
    });

    it('exports lines of JSON that another gateway imports as they were, through a file too', async () => {
      const one = await start();
      for (const message of ['first — “ä”', 'second'])
        await post(`${one.url}/send`, { sessionId: 'main', message }, as('ann'));
      const text = await textOf(one.gateway.export('main', { user: ANN }));
      const { body } = await get(`${one.url}/history?sessionId=main`, as('ann'));
      expect(parsed(text)).to.deep.equal(body.messages);
      expect(await textOf(one.gateway.export('main', { scope: SCOPE }))).to.equal(text);

      const two = await start();
      const file = `${newDatabase()}.ndjson`;
      await pipeline(one.gateway.export('main', { user: ANN }), createWriteStream(file));
      const sources: Record<string, any> = {
        text,
        stream: createReadStream(file, { highWaterMark: 7 }),
        direct: one.gateway.export('main', { user: ANN }),
        objects: parsed(text),
        'no-end': text.trimEnd(),
      };
      for (const [key, source] of Object.entries(sources)) {
        const imported = await two.gateway.import(key, source, { user: ANN, title: key });
        expect(imported.tip, key).to.equal(body.messages.at(-1).id);
        const history = await get(`${two.url}/history?sessionId=${key}`, as('ann'));
        expect(history.body.messages, key).to.deep.equal(body.messages);
      }
      expect(
        await codeOf(() => two.gateway.import('text', [{ role: 'user', content: 'x' }], { user: ANN })),
      ).to.equal('SESSION_EXISTS');
    });

    it('exports events, and what somebody may not see to an operator all the same', async () => {
      const { gateway, url } = await start({
        sessionAccess: (_user: unknown, _session: unknown, operation: string) => operation !== 'export',
      });
      await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('ann'));
      const events = parsed(await textOf(gateway.export('main', { user: ANN, what: 'events' })));
      expect(events.map(({ type }) => type)).to.include.members(['message_accepted', 'message_end']);
      expect(events.every(({ cursor, sessionId }) => cursor !== undefined && sessionId === 'main')).to.equal(
        true,
      );
      expect((await get(`${url}/export?sessionId=main`, as('ann'))).status).to.equal(404);
      expect(await codeOf(() => textOf(gateway.export('none', { user: ANN })))).to.equal('SESSION_NOT_FOUND');
      expect(await codeOf(() => textOf(gateway.export('main')))).to.equal('INVALID_REQUEST');
    });

    it('takes no lines that are none, no events, and not more than it may', async () => {
      const { gateway } = await start({ limits: { ...limits, importedMessages: 3 } });
      const line = '{"role":"user","content":"hi"}\n';
      for (const source of ['{"role":"us', line.repeat(4), '{"type":"message_end"}', ''])
        expect(await codeOf(() => gateway.import('main', source, { user: ANN })), source).to.equal(
          'INVALID_PARAMS',
        );
      expect((await gateway.sessions({ user: ANN })).sessions).to.deep.equal([]);
      async function* endless(): AsyncGenerator<string> {
        for (;;) yield line;
      }
      expect(await codeOf(() => gateway.import('main', endless(), { user: ANN }))).to.equal('INVALID_PARAMS');
    });
  });
}
