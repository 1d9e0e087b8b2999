import { MemorySaver } from '@langchain/langgraph';
import { expect } from 'chai';
import { langGraphApp } from '../../../server/app-adapters/langgraph/index.js';
import { textOf } from '../../../shared/messages.js';
import { connectClient } from '../../support/client.js';
import { agentTool, asking, calling, childrenOf } from './calling-graphs.js';
import { restartedAsking } from './restarted.js';

describe('langGraphApp, whose tools run graphs, after a restart', () => {
  it('joins the same child where a restart interrupted it, when the app is resumable', async () => {
    const graph = calling([agentTool('asker', asking())], ['asker', 'x']).compile({
      checkpointer: new MemorySaver(),
    });
    const app = langGraphApp({ graph, resumable: true });
    const { url, callId } = await restartedAsking(app, 'input_required');
    const client = connectClient(url);
    await client.session('main').respond(callId, { output: 'red' });
    const spawned: string[] = [];
    for await (const event of client.events('main', { from: 'earliest' })) {
      if (event.type === 'run_spawned') spawned.push(event.runId!);
      if (event.type === 'message_end' && event.parentRunId === undefined) break;
    }
    const { messages } = await client.session('main').history();
    expect(textOf(messages.at(-1)!)).to.equal('Look. done');
    expect(childrenOf(messages.at(-1)!)).to.deep.equal([['asker', 'asker-0', 'x', 'Which? red!', 'end']]);
    expect(spawned).to.have.length(1);
  });
});
