import { expect } from 'chai';
import { z } from 'zod';
import { defineApp, GatewayError, type ToolContext, tool, toolResult } from '../../../server/index.js';
import { gate } from '../../support/gate.js';
import { as } from '../../support/users.js';
import { conformanceApp } from './conformance-app.js';
import { CLIENTS, startMcp } from './mcp-clients.js';

const run = () => 'unused';

for (const { name, connect } of CLIENTS) {
  describe(`mcpServerPlugin, to ${name}`, () => {
    it('lists tools with their schemas, zod and plain JSON Schema, untouched', async () => {
      const plain = conformanceApp.tools!.json_schema_2020_12_tool!.schema as Record<string, unknown>;
      const app = defineApp({
        run,
        tools: {
          find: tool({
            description: 'Finds somebody',
            schema: z.object({ name: z.string(), limit: z.number().default(3) }),
            handler: () => '',
          }),
          plain: conformanceApp.tools!.json_schema_2020_12_tool!,
          bare: tool({ handler: () => '' }),
        },
      });
      const { url } = await startMcp({ app });
      const [find, second, bare] = await (await connect(url)).tools();
      expect(find).to.deep.include({ name: 'find', description: 'Finds somebody' });
      expect(find.inputSchema).to.deep.include({ type: 'object', required: ['name'] });
      expect(find.inputSchema.properties.limit).to.deep.equal({ default: 3, type: 'number' });
      expect(second.inputSchema).to.deep.equal(plain);
      expect(bare.inputSchema).to.deep.equal({ type: 'object' });
    });

    it('lists the title of a tool, and what it does to the world', async () => {
      const hints = { readOnly: false, destructive: true, idempotent: true, openWorld: false };
      const app = defineApp({
        run,
        tools: {
          erase: tool({ title: 'Erase a file', hints, handler: () => '' }),
          look: tool({ hints: { readOnly: true }, handler: () => '' }),
        },
      });
      const [erase, look] = await (await connect((await startMcp({ app })).url)).tools();
      expect(erase.title).to.equal('Erase a file');
      expect(erase.annotations).to.deep.equal({
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: true,
        openWorldHint: false,
      });
      expect([look.title, look.annotations]).to.deep.equal([undefined, { readOnlyHint: true }]);
    });

    it('lists every schema as one of an object, and leaves out and logs what cannot be one', async () => {
      const app = defineApp({
        run,
        tools: {
          either: tool({
            schema: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),
            handler: () => 'either',
          }),
          word: tool({ schema: z.string(), handler: () => 'word' }),
          odd: tool({ schema: z.object({ at: z.date() }), handler: () => 'odd' }),
        },
      });
      const { url, log } = await startMcp({ app });
      const client = await connect(url);
      const tools = await client.tools();
      expect(tools.map((it) => it.name)).to.deep.equal(['either', 'odd']);
      expect(tools[0].inputSchema.type).to.equal('object');
      expect(tools[0].inputSchema.anyOf).to.have.length(2);
      expect(tools[1].inputSchema).to.deep.equal({ type: 'object' });
      const logged = log.lines.map(({ message }) => message);
      expect(logged.join('\n'))
        .to.match(/the tool word is left out/)
        .and.match(/odd is listed without its schema/);
      expect((await client.call('either', { b: 'x' })).content[0].text).to.equal('either');
    });

    it('passes on content of every kind', async () => {
      const data = Buffer.from('bytes').toString('base64');
      const app = defineApp({
        run,
        tools: {
          all: tool({
            handler: () =>
              toolResult({
                content: [
                  { type: 'text', text: 'words' },
                  { type: 'image', mediaType: 'image/png', data },
                  { type: 'image', mediaType: 'image/gif', url: `data:image/gif;base64,${data}` },
                  { type: 'image', mediaType: 'image/png', name: 'far', url: 'https://files.test/a.png' },
                  { type: 'audio', mediaType: 'audio/wav', data },
                  { type: 'resource', uri: 'doc://1', mediaType: 'text/plain', text: 'inside' },
                  { type: 'resource', uri: 'doc://2', data },
                  { type: 'resource', uri: 'doc://3' },
                  { type: 'file', mediaType: 'application/pdf', name: 'a b.pdf', data },
                  { type: 'file', mediaType: 'application/pdf', url: 'https://files.test/b.pdf' },
                  { type: 'data', id: 'd', name: 'table', value: [1] },
                ],
              }),
          }),
        },
      });
      const { url } = await startMcp({ app });
      const { content } = await (await connect(url)).call('all');
      expect(content).to.deep.equal([
        { type: 'text', text: 'words' },
        { type: 'image', mimeType: 'image/png', data },
        { type: 'image', mimeType: 'image/gif', data },
        { type: 'resource_link', uri: 'https://files.test/a.png', name: 'far', mimeType: 'image/png' },
        { type: 'audio', mimeType: 'audio/wav', data },
        { type: 'resource', resource: { uri: 'doc://1', mimeType: 'text/plain', text: 'inside' } },
        { type: 'resource', resource: { uri: 'doc://2', blob: data } },
        { type: 'resource_link', uri: 'doc://3', name: 'doc://3' },
        {
          type: 'resource',
          resource: { uri: 'attachment:///a%20b.pdf', mimeType: 'application/pdf', blob: data },
        },
        {
          type: 'resource_link',
          uri: 'https://files.test/b.pdf',
          name: 'https://files.test/b.pdf',
          mimeType: 'application/pdf',
        },
        { type: 'text', text: '[1]' },
      ]);
    });

    it('passes on structured content, as objects only, with a text copy', async () => {
      class Point {
        readonly x = 1;
      }
      const app = defineApp({
        run,
        tools: {
          object: tool({ handler: () => ({ n: 1 }) }),
          list: tool({ handler: () => [1, 2] }),
          instance: tool({ handler: () => new Point() }),
          nothing: tool({ handler: () => undefined }),
          own: tool({
            handler: () => toolResult({ content: [{ type: 'text', text: 'one' }], structured: { n: 1 } }),
          }),
          picture: tool({
            handler: () =>
              toolResult({
                content: [{ type: 'image', mediaType: 'image/png', data: 'AAAA' }],
                structured: { n: 1 },
              }),
          }),
        },
      });
      const { url } = await startMcp({ app });
      const client = await connect(url);
      expect(await client.call('object')).to.deep.include({
        structuredContent: { n: 1 },
        content: [{ type: 'text', text: '{"n":1}' }],
      });
      const list = await client.call('list');
      expect(list.content).to.deep.equal([{ type: 'text', text: '[1,2]' }]);
      expect(list).not.to.have.property('structuredContent');
      expect((await client.call('instance')).structuredContent).to.deep.equal({ x: 1 });
      expect((await client.call('nothing')).content).to.deep.equal([]);
      expect(await client.call('own')).to.deep.include({
        structuredContent: { n: 1 },
        content: [{ type: 'text', text: 'one' }],
      });
      const { content } = await client.call('picture');
      expect(content[1]).to.deep.equal({ type: 'text', text: '{"n":1}' });
    });

    it('answers failures of a tool as results with isError, and says nothing of unknown errors', async () => {
      const cyclic: Record<string, unknown> = {};
      cyclic.self = cyclic;
      const app = defineApp({
        run,
        tools: {
          reports: tool({
            handler: () => toolResult({ content: [{ type: 'text', text: 'it is closed' }], isError: true }),
          }),
          throws: tool({
            handler: () => {
              throw new Error('the secret');
            },
          }),
          refuses: tool({
            handler: () => {
              throw new GatewayError({ code: 'INVALID_PARAMS', message: 'no such day' });
            },
          }),
          strict: tool({ schema: z.object({ n: z.number() }), handler: ({ n }) => String(n) }),
          cyclic: tool({
            handler: () => toolResult({ content: [{ type: 'text', text: 'x' }], structured: cyclic }),
          }),
        },
      });
      const { url, log } = await startMcp({ app });
      const client = await connect(url);
      const failed = async (tool: string, args = {}) => {
        const { isError, content } = await client.call(tool, args);
        expect(isError, tool).to.equal(true);
        return content[0].text;
      };
      expect(await failed('reports')).to.equal('it is closed');
      expect(await failed('throws')).to.equal('The tool failed');
      expect(await failed('refuses')).to.equal('no such day');
      expect(await failed('strict', { n: 'one' })).to.match(/"path":"n"/);
      expect(await failed('cyclic')).to.equal('The tool failed');
      expect(log.lines.filter(({ level }) => level === 'error')).to.have.length(2);
    });

    it('answers an unknown tool with -32602', async () => {
      const { url } = await startMcp({ app: conformanceApp });
      const error = await (await connect(url)).call('nothing').catch((it: unknown) => it);
      expect(error).to.include({ code: -32602 });
      expect((error as Error).message).to.include('Unknown tool: nothing');
    });

    it('reports progress to those who ask, only upwards, before the result', async () => {
      const app = defineApp({
        run,
        tools: {
          works: tool({
            handler: async (_input, { progress }) => {
              progress(0, 10, 'begun');
              await new Promise(setImmediate);
              await new Promise(setImmediate);
              progress(4, 10);
              progress(5, 10);
              await new Promise(setImmediate);
              await new Promise(setImmediate);
              progress(5, 10);
              progress(3, 10);
              await new Promise(setImmediate);
              await new Promise(setImmediate);
              progress(10, 10, 'over');
              return 'done';
            },
          }),
        },
      });
      const { url } = await startMcp({ app });
      const client = await connect(url);
      const heard: unknown[] = [];
      const result = await client.call('works', {}, { onprogress: (it) => heard.push(it) });
      expect(result.content[0].text).to.equal('done');
      expect(heard).to.deep.equal([
        { progress: 0, total: 10, message: 'begun' },
        { progress: 5, total: 10 },
        { progress: 10, total: 10, message: 'over' },
      ]);
      expect((await client.call('works')).content[0].text).to.equal('done');
    });

    it('cancels a call', async () => {
      const began = gate();
      const cancelled = gate<unknown>();
      const app = defineApp({
        run,
        tools: {
          waits: tool({
            handler: (_input, { signal }: ToolContext) => {
              began.open();
              return new Promise((resolve) =>
                signal.addEventListener('abort', () => {
                  cancelled.open(signal.reason);
                  resolve('too late');
                }),
              );
            },
          }),
        },
      });
      const { url } = await startMcp({ app });
      const client = await connect(url);
      const controller = new AbortController();
      const call = client.call('waits', {}, { signal: controller.signal }).catch((error: unknown) => error);
      await began.passed;
      controller.abort();
      expect(await cancelled.passed).to.be.instanceOf(DOMException);
      expect(await call).to.be.instanceOf(Error);
    });

    it('runs calls as the caller, in the caller’s own session of the configured app', async () => {
      const who = (app: string) =>
        tool({
          handler: (_input, { user, session }: ToolContext) => ({ from: app, user: user!.id, ...session }),
        });
      const apps = {
        first: defineApp({ run, tools: { who: who('first') } }),
        second: defineApp({ run, tools: { who: who('second') } }),
      };
      const { url } = await startMcp({ apps, defaultApp: 'first' }, { sessionId: 'second:tools' });
      const seen = [];
      for (const user of ['alice', 'bob'])
        seen.push((await (await connect(url, as(user))).call('who')).structuredContent);
      expect(seen).to.deep.equal([
        { from: 'second', user: 'alice', id: 'second:tools', app: 'second' },
        { from: 'second', user: 'bob', id: 'second:tools', app: 'second' },
      ]);
    });
  });
}
