import { expect } from 'chai';
import { collect } from '../../support/client.js';
import { actor, STORES } from '../actor.js';
import { brought, MAJORS, plain, startResponses } from './fixtures.js';

for (const [store, make] of STORES)
  for (const major of MAJORS.filter(({ major: number }) => store === 'memoryStore' || number === 6))
    describe(`responses for openai ${major.major} on ${store}`, () => {
      const start = (options?: Parameters<typeof startResponses>[1]) =>
        startResponses({ app: actor().app, store: make() }, options);

      it('are whole: text, and everything that a response has', async () => {
        const gateway = await start();
        const client = gateway.client(major);
        const response = await client.responses.create({
          model: 'default',
          input: 'hello you',
          metadata: { note: 'mine' },
          temperature: 0.5,
        });
        expect(response.output_text).to.equal('hello you ');
        expect(plain(response)).to.include({ object: 'response', status: 'completed', model: 'default' });
        expect(plain(response)).to.include({ temperature: 0.5, top_p: 1, error: null, store: true });
        expect(response.metadata).to.deep.equal({ note: 'mine' });
        expect(await client.responses.retrieve(response.id)).to.deep.include({ output: response.output });
      });

      it('are streamed by its helper, with reasoning and a tool of the app', async () => {
        const gateway = await start();
        const stream = gateway.client(major).responses.stream({ model: 'default', input: 'think look done' });
        const types = (await collect(stream)).map(({ type }) => type);
        const final = await stream.finalResponse();
        expect(final.output.map(({ type }) => type)).to.deep.equal(['reasoning', 'mcp_call', 'message']);
        expect(plain(final.output[1])).to.include({
          type: 'mcp_call',
          server_label: 'default',
          name: 'look',
          arguments: '{"n":1}',
          output: '{"did":"look","n":1}',
          status: 'completed',
        });
        expect(types).to.include.members(['response.mcp_call.completed', 'response.output_text.delta']);
        expect(final.output_text).to.equal('[look: {"did":"look","n":1}] done ');
      });

      it('end for a function of the caller, whose output brings the next one', async () => {
        const gateway = await start();
        const client = gateway.client(major);
        const tools = [brought('where')];
        const first = await client.responses.create({ model: 'default', input: 'before where after', tools });
        expect(first.status).to.equal('completed');
        const call = plain(first.output.at(-1));
        expect(call).to.include({ type: 'function_call', name: 'where', arguments: '{"n":1}' });
        const next = await client.responses.create({
          model: 'default',
          previous_response_id: first.id,
          input: [{ type: 'function_call_output', call_id: call.call_id, output: 'here' }],
          tools,
        });
        expect(next.previous_response_id).to.equal(first.id);
        expect(next.output_text).to.equal('[where: "here"] after ');
        const { data } = await client.responses.inputItems.list(next.id);
        expect(plain(data)).to.deep.include.members([
          {
            id: data[0]!.id,
            type: 'function_call_output',
            call_id: call.call_id,
            output: 'here',
            status: 'completed',
          },
        ]);
      });

      for (const approve of [true, false])
        it(`ask for approval, which is ${approve ? 'granted' : 'denied'}`, async () => {
          const { app, effects } = actor();
          const gateway = await startResponses({ app, store: make() });
          const client = gateway.client(major);
          const first = await client.responses.create({ model: 'default', input: 'pay done' });
          expect(first.output.map(({ type }) => type)).to.deep.equal(['mcp_approval_request']);
          const asked = plain(first.output[0]);
          expect(asked).to.include({ name: 'pay', server_label: 'default', arguments: '{"n":1}' });
          const next = await client.responses.create({
            model: 'default',
            previous_response_id: first.id,
            input: [{ type: 'mcp_approval_response', approval_request_id: asked.id, approve }],
          });
          expect(effects).to.deep.equal(approve ? ['pay'] : []);
          expect(next.output.map(({ type }) => type)).to.deep.equal(['mcp_call', 'message']);
          expect(plain(next.output[0])).to.include({
            approval_request_id: asked.id,
            status: approve ? 'completed' : 'failed',
            error: approve ? null : 'Denied',
          });
        });

      it('follow one another, and branch from one that is further back', async () => {
        const gateway = await start();
        const client = gateway.client(major);
        const ask = async (input: string, previous_response_id?: string) =>
          client.responses.create({
            model: 'default',
            input,
            ...(previous_response_id !== undefined && { previous_response_id }),
          });
        const one = await ask('one');
        const two = await ask('two', one.id);
        const three = await ask('three', two.id);
        const other = await ask('other', one.id);
        const sessionOf = ({ id }: { readonly id: string }) => id.slice('resp_'.length).split('~')[0]!;
        expect(sessionOf(three)).to.equal(sessionOf(one));
        expect(sessionOf(other)).to.not.equal(sessionOf(one));
        const said = async (session: string) => {
          const { messages } = await gateway.gateway.session(session, { user: { id: 'alice' } }).history();
          return messages.map(({ content: [block] }: any) => block.text.trim());
        };
        expect(await said(sessionOf(one))).to.deep.equal(['one', 'one', 'two', 'two', 'three', 'three']);
        expect(await said(sessionOf(other))).to.deep.equal(['one', 'one', 'other', 'other']);
        expect(two.previous_response_id).to.equal(one.id);
      });

      it('are in conversations, which are created, noted on, listed and deleted', async () => {
        const gateway = await start();
        const client = gateway.client(major);
        const conversation = await client.conversations.create({ metadata: { topic: 'a' } });
        expect(conversation.metadata).to.deep.equal({ topic: 'a' });
        const one = await client.responses.create({
          model: 'default',
          input: 'one',
          conversation: conversation.id,
        });
        expect(one.conversation).to.deep.equal({ id: conversation.id });
        await client.responses.create({
          model: 'default',
          input: 'think look',
          conversation: conversation.id,
        });
        const items = await collect(client.conversations.items.list(conversation.id, { order: 'asc' }));
        expect(items.map(({ type }) => type)).to.deep.equal([
          'message',
          'message',
          'message',
          'reasoning',
          'mcp_call',
          'message',
        ]);
        expect(plain(items[1])).to.deep.equal(plain(one.output[0]));
        expect(await client.conversations.retrieve(conversation.id)).to.deep.equal(conversation);
        const changed = await client.conversations.update(conversation.id, { metadata: { topic: 'b' } });
        expect(changed.metadata).to.deep.equal({ topic: 'b' });
        expect(await client.conversations.delete(conversation.id)).to.include({ deleted: true });
        const gone = await client.conversations.retrieve(conversation.id).catch((error) => error);
        expect(gone.status).to.equal(404);
      });

      it('are in a conversation that has items before its first response, each found by its id', async () => {
        const gateway = await start();
        const client = gateway.client(major);
        const { id } = await client.conversations.create({ metadata: { topic: 'a' } });
        const said = (role: 'user' | 'assistant', content: string) => ({ role, content }) as const;
        const added = await client.conversations.items.create(id, {
          items: [said('user', 'one'), said('assistant', 'two')],
        });
        expect(plain(added).data.map(({ role, content: [part] }: any) => [role, part.text])).to.deep.equal([
          ['user', 'one'],
          ['assistant', 'two'],
        ]);
        await client.responses.create({ model: 'default', input: 'three', conversation: id });
        const items = await collect(client.conversations.items.list(id, { order: 'asc' }));
        expect(items).to.have.length(4);
        expect(plain(items.slice(0, 2))).to.deep.equal(plain(added.data));
        for (const item of items)
          expect(
            plain(await client.conversations.items.retrieve(item.id!, { conversation_id: id })),
          ).to.deep.equal(plain(item));
        expect((await client.conversations.retrieve(id)).metadata).to.deep.equal({ topic: 'a' });
        const failed = async (call: Promise<unknown>) => {
          const { status, param } = (await call.catch((error) => error)) as any;
          return [status, param];
        };
        const { items: routes } = client.conversations;
        expect(await failed(routes.retrieve('msg_none', { conversation_id: id }))).to.deep.equal([
          404,
          'item_id',
        ]);
        const more = await routes.create(id, { items: [said('user', 'four'), said('assistant', 'five')] });
        const textsOf = (all: unknown) =>
          (all as any).map(({ content: [part] }: any) => part.text.replace(/[^a-z ]/g, ''));
        expect(textsOf(more.data)).to.deep.equal(['four', 'five']);
        const listed = async () => collect(client.conversations.items.list(id, { order: 'asc' }));
        expect(plain((await listed()).slice(4))).to.deep.equal(plain(more.data));
        for (const item of [more.data[1]!, items[3]!, items[0]!]) {
          const left = await routes.delete(item.id!, { conversation_id: id });
          expect(plain(left)).to.deep.equal(plain(await client.conversations.retrieve(id)));
          expect(await failed(routes.delete(item.id!, { conversation_id: id }))).to.deep.equal([
            404,
            'item_id',
          ]);
        }
        expect(textsOf(await listed())).to.deep.equal(['two', 'three', 'four']);
        const next = await client.responses.create({ model: 'default', input: 'six', conversation: id });
        expect(next.conversation).to.deep.equal({ id });
      });

      it('run in the background, are polled, cancelled and deleted', async () => {
        const gateway = await start();
        const client = gateway.client(major);
        const begun = await client.responses.create({ model: 'default', input: 'a ask b', background: true });
        expect(begun.background).to.equal(true);
        expect(begun.status).to.be.oneOf(['queued', 'in_progress']);
        const cancelled = await client.responses.cancel(begun.id);
        expect(cancelled).to.include({ id: begun.id, status: 'cancelled' });
        expect(cancelled.incomplete_details).to.deep.equal({ reason: 'aborted' });
        expect(await client.responses.cancel(begun.id)).to.include({ status: 'cancelled' });
        await client.responses.delete(begun.id);
        const gone = await client.responses.retrieve(begun.id).catch((error) => error);
        expect([gone.status, gone.code]).to.deep.equal([404, 'not_found']);
      });

      it('fail with the app, within an answer', async () => {
        const gateway = await start();
        const client = gateway.client(major);
        const failed = await client.responses.create({ model: 'default', input: 'a break' });
        expect(failed).to.include({ status: 'failed', output_text: 'a ' });
        expect(failed.error?.code).to.equal('server_error');
        expect(failed.error?.message).to.not.contain('secret');
        const events = await collect(
          await client.responses.create({ model: 'default', input: 'a break', stream: true }),
        );
        expect(events.at(-1)?.type).to.equal('response.failed');
      });

      it('are refused before an answer, in the vendor’s shape', async () => {
        const gateway = await start();
        const client = gateway.client(major);
        const refused = async (body: any) => {
          const { status, param, code } = await client.responses.create(body).catch((error) => error);
          return [status, param, code];
        };
        expect(await refused({ model: 'none', input: 'x' })).to.deep.equal([404, 'model', 'model_not_found']);
        expect(await refused({ model: 'default', input: [] })).to.deep.equal([400, 'input', 'invalid_value']);
        expect(
          await refused({ model: 'default', input: 'x', previous_response_id: 'resp_none' }),
        ).to.deep.equal([400, 'previous_response_id', 'previous_response_not_found']);
        expect(await refused({ model: 'default', input: 'x', background: true, store: false })).to.deep.equal(
          [400, 'background', 'invalid_value'],
        );
      });

      it('take pictures and files, and an app is told what its caller asks of the model', async () => {
        const gateway = await start();
        const client = gateway.client(major);
        const response = await client.responses.create({
          model: 'default',
          input: [
            {
              role: 'user',
              content: [
                { type: 'input_text', text: 'seen' },
                { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'auto' },
                { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,aGk=' },
              ],
            },
          ],
        });
        expect(response.output_text).to.equal('seen ');
        const { data } = await client.responses.inputItems.list(response.id);
        expect(plain(data[0]).content.map(({ type }: any) => type)).to.deep.equal([
          'input_text',
          'input_image',
          'input_file',
        ]);
      });
    });
