import { readUIMessageStream, ToolLoopAgent, tool } from 'ai';
import { expect } from 'chai';
import { z } from 'zod';
import { aiSdkApp } from '../../../server/app-adapters/ai-sdk/index.js';
import { textOf } from '../../../shared/messages.js';
import { serve } from '../served.js';
import { calls, ends, says, scriptedModel } from './scripted-model.js';

const look = tool({ description: 'Looks', inputSchema: z.object({}), execute: async () => 'seen' });

/** A tool that has an agent answer, and yields its message as it grows. */
const research = (agent: ToolLoopAgent<any, any, any>) =>
  tool({
    description: 'Asks',
    inputSchema: z.object({ task: z.string() }),
    async *execute({ task }: { task: string }, { abortSignal }: { abortSignal?: AbortSignal }) {
      const result = await agent.stream({ prompt: task, abortSignal } as any);
      for await (const message of readUIMessageStream({ stream: result.toUIMessageStream() })) yield message;
    },
    toModelOutput: () => ({ type: 'text' as const, value: 'researched' }),
  } as any) as any;

describe('aiSdkApp, whose tools run agents', () => {
  it('has a child run for each, with what its agent says and calls', async () => {
    const agent = new ToolLoopAgent({
      model: scriptedModel(
        [...says('First '), calls('look', {}, 'own_1'), ends('tool-calls')],
        [...says('found it'), ends()],
      ),
      tools: { look },
    });
    const model = scriptedModel(
      [...says('Asking. '), calls('research', { task: 'where?' }), ends('tool-calls')],
      [...says('Done.'), ends()],
    );
    const { client } = await serve(aiSdkApp({ model, tools: { research: research(agent) } }));
    const run = client.send('main', 'Go');
    const deltas: string[] = [];
    for await (const event of client.session('main').events({ from: (await run.accepted).cursor })) {
      if (event.type === 'content_delta') deltas.push(event.delta);
      if (event.type === 'message_end' && event.parentRunId === undefined) break;
    }
    const { messages } = await client.session('main').history();
    const answer = messages.at(-1)!;
    expect(textOf(answer)).to.equal('Asking. Done.');
    const [child, ...others] = answer.children!;
    expect(others).to.deep.equal([]);
    const [call] = answer.content.filter(({ type }) => type === 'tool_use') as any[];
    expect(child).to.include({ app: 'research', callId: call.callId, stopReason: 'end' });
    expect(textOf(child!.asked)).to.equal('where?');
    expect(textOf(child!.message)).to.equal('First found it');
    expect(child!.message.content.map(({ type }) => type)).to.deep.equal([
      'text',
      'tool_use',
      'tool_result',
      'text',
    ]);
    expect(deltas).to.include.members(['First ', 'found ', 'it']);
  });

  it('has none for a tool that yields anything else', async () => {
    const counts = tool({
      description: 'Counts',
      inputSchema: z.object({}),
      async *execute() {
        yield 1;
        yield 2;
      },
    } as any) as any;
    const model = scriptedModel([calls('counts', {}), ends('tool-calls')], [...says('Two.'), ends()]);
    const { client } = await serve(aiSdkApp({ model, tools: { counts } }));
    await client.send('main', 'Go').result;
    const { messages } = await client.session('main').history();
    expect(messages.at(-1)!.children).to.equal(undefined);
    expect(textOf(messages.at(-1)!)).to.equal('Two.');
  });
});
