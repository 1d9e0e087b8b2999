import { Session } from 'node:inspector/promises';
import { openaiApp } from '../../server/app-adapters/openai/index.js';
import { channels } from '../../server/diagnostics/index.js';
import { createGateway, createInProcessTransport, method } from '../../server/index.js';
import { echo } from '../support/apps.js';

// Prints which functions of the diagnostics allocate while nobody listens, and which while somebody does. A process of its own: what
// others have made the engine optimize would be counted otherwise.
interface ProfileNode {
  readonly callFrame: { readonly url: string; readonly functionName: string };
  readonly selfSize: number;
  readonly children: readonly ProfileNode[];
}

/** Names of the functions of server/diagnostics that allocated anything during some work, what was collected meanwhile included. */
async function allocating(work: () => Promise<void>): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.enable');
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: 1,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  } as never);
  await work();
  const { profile } = await session.post('HeapProfiler.stopSampling');
  session.disconnect();
  const names = new Set<string>();
  const visit = ({ callFrame, selfSize, children }: ProfileNode): void => {
    if (selfSize > 0 && /server\/diagnostics\/|traced-operations/.test(callFrame.url))
      names.add(callFrame.functionName);
    for (const child of children) visit(child);
  };
  visit(profile.head as unknown as ProfileNode);
  return [...names];
}

async function* answer() {
  yield { id: 'a', model: 'tiny', choices: [{ delta: { content: 'x' }, finish_reason: 'stop' }] };
}
const asking = openaiApp({
  client: { chat: { completions: { create: async () => answer() } } } as never,
  model: 'tiny',
});
const gateway = createGateway({
  apps: { echo, asking },
  defaultApp: 'echo',
  embedded: true,
  methods: { add: method({ handler: () => 1 }) },
  limits: { sendsPerSecond: 1e6, invokesPerSecond: 1e6 },
});
const session = gateway.session('main');
const asked = gateway.session('asking:main');
const transport = createInProcessTransport(gateway);
const work = async (): Promise<void> => {
  await session.send('x').result;
  await asked.send('x').result;
  for await (const event of session.events({ from: 'snapshot' })) if (event) break;
  await transport.request('invoke', { method: 'add' }, { signal: new AbortController().signal });
  await session.abort();
};
// The engine itself allocates for a function that runs for the first times; what is made for each call never stops.
for (let i = 0; i < 300; i += 1) await work();
let names = await allocating(work);
for (let round = 0; round < 20 && names.length > 0; round += 1) names = await allocating(work);
console.log(JSON.stringify(names));

const handlers = { start() {} };
channels.operation.subscribe(handlers);
channels.run.subscribe(handlers);
channels.model.subscribe(handlers);
console.log(JSON.stringify(await allocating(work)));
await gateway.close();
