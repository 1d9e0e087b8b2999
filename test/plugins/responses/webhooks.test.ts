import { expect } from 'chai';
import type { NotifyOptions } from '../../../server/features/notices/index.js';
import { defineApp } from '../../../server/index.js';
import { openaiWebhooks } from '../../../server/plugins/responses/index.js';
import { Receiver, SECRET } from '../../notices/receiver.js';
import { counted } from '../../notices/seen.js';
import { until } from '../../support/until.js';
import { MAJORS, type Major, startResponses } from './fixtures.js';

const app = defineApp({
  async *run(turn) {
    if (turn.text === 'fail') throw new Error('no');
    if (turn.text === 'wait') await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
    if (turn.text === 'cut') return { stopReason: 'max_tokens' as const };
    const [weather] = turn.clientTools;
    if (weather) yield `It is ${await turn.callTool(weather, { city: 'Bern' })}`;
    else yield `did ${turn.text}`;
  },
});

const tools = [{ type: 'function' as const, name: 'weather', parameters: { type: 'object' }, strict: false }];

/** What those of responses have in common. */
interface Told {
  readonly id: string;
  readonly type: string;
  readonly created_at: number;
  readonly data: { readonly id: string };
}

async function begin(major: Major) {
  const receiver = await Receiver.start();
  const notify: NotifyOptions = {
    ...{ unseenMs: 0, allowPrivate: true },
    webhooks: { url: receiver.url, secrets: SECRET, shape: openaiWebhooks() },
  };
  const started = await startResponses({ app, notify });
  const openai = started.client(major, { webhookSecret: SECRET });
  /** The events that came, as the vendor's client takes them. */
  const unwrapped = async () => {
    const events = receiver.all.map(({ raw, headers }) => openai.webhooks.unwrap(raw, headers));
    return (await Promise.all(events)) as unknown as readonly Told[];
  };
  return { ...started, receiver, openai, unwrapped };
}

for (const major of MAJORS) {
  describe(`webhooks of responses, by openai ${major.major}`, () => {
    it('tell of one in the background as OpenAI does, and of no other', async () => {
      const { openai, receiver, unwrapped, gateway } = await begin(major);
      await openai.responses.create({ model: 'default', input: 'seen' });
      const { id } = await openai.responses.create({ model: 'default', input: 'hi', background: true });
      await receiver.until((all) => all.length > 0);
      const [event, ...none] = await unwrapped();
      expect(none).to.deep.equal([]);
      expect(event).to.deep.include({ object: 'event', type: 'response.completed', data: { id } });
      expect(event!.created_at).to.be.closeTo(Date.now() / 1000, 120);
      expect(event!.id).to.equal(receiver.all[0]!.id);
      expect((await openai.responses.retrieve(id)).output_text).to.equal('did hi');
      await until(() => counted(gateway, 'told') === 1);
    });

    it('say how it ended', async () => {
      const { openai, receiver, unwrapped } = await begin(major);
      const ids: string[] = [];
      for (const input of ['fail', 'cut', 'wait']) {
        const { id } = await openai.responses.create({ model: 'default', input, background: true });
        ids.push(id);
        if (input === 'wait') await openai.responses.cancel(id);
        await receiver.until((all) => all.length === ids.length);
      }
      expect((await unwrapped()).map(({ type, data }) => [type, (data as { id: string }).id])).to.deep.equal([
        ['response.failed', ids[0]],
        ['response.incomplete', ids[1]],
        ['response.cancelled', ids[2]],
      ]);
    });

    it('tell of each response of a run that asks its caller', async () => {
      const { openai, receiver, unwrapped } = await begin(major);
      const first = await openai.responses.create({
        ...{ model: 'default', input: 'hi', background: true, tools },
      });
      await receiver.until((all) => all.length === 1);
      const asked = await openai.responses.retrieve(first.id);
      const call = asked.output.find((item) => item.type === 'function_call')!;
      const second = await openai.responses.create({
        ...{ model: 'default', background: true, tools, previous_response_id: first.id },
        input: [{ type: 'function_call_output', call_id: call.call_id, output: 'sunny' }],
      });
      await receiver.until((all) => all.length === 2);
      expect((await unwrapped()).map(({ type, data }) => [type, (data as { id: string }).id])).to.deep.equal([
        ['response.completed', first.id],
        ['response.completed', second.id],
      ]);
      expect((await openai.responses.retrieve(second.id)).output_text).to.equal('It is sunny');
    });
  });
}
