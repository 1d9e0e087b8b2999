import { spawn } from 'node:child_process';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { expect } from 'chai';
import { channels } from '../../server/diagnostics/index.js';
import { createInProcessTransport, method } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { startGateway } from '../support/gateway.js';
import { Program, ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';

interface ProfileNode {
  readonly callFrame: { readonly url: string; readonly functionName: string };
  readonly selfSize: number;
  readonly children: readonly ProfileNode[];
}

/** Names of the functions of server/diagnostics that allocated anything during some work, what was collected meanwhile included. */
async function allocating(work: () => Promise<void>): Promise<string[]> {
  const session = closeLater(new Session(), (it) => it.disconnect());
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

describe('diagnostics', () => {
  it('allocate nothing while nobody listens', async function () {
    this.timeout(60_000);
    // What an optimized function has taken in of others would count as its own.
    setFlagsFromString('--no-opt');
    closeLater(null, () => setFlagsFromString('--opt'));
    const methods = { add: method({ handler: () => 1 }) };
    const { gateway } = await startGateway({
      app: echo,
      methods,
      limits: { sendsPerSecond: 1e6, invokesPerSecond: 1e6 },
    });
    const session = gateway.session('main');
    const transport = createInProcessTransport(gateway);
    const work = async (): Promise<void> => {
      await session.send('x').result;
      for await (const event of session.events({ from: 'snapshot' })) if (event) break;
      await transport.request('invoke', { method: 'add' }, { signal: new AbortController().signal });
      await session.abort();
    };
    // The engine itself allocates for a function that runs for the first times; what is made for each call never stops.
    for (let i = 0; i < 300; i += 1) await work();
    let names = await allocating(work);
    for (let round = 0; round < 20 && names.length > 0; round += 1) names = await allocating(work);
    expect(names).to.deep.equal([]);

    const handlers = { start() {} };
    channels.operation.subscribe(handlers);
    channels.run.subscribe(handlers);
    closeLater(handlers, () => {
      channels.operation.unsubscribe(handlers);
      channels.run.unsubscribe(handlers);
    });
    const heard = await allocating(work);
    expect(heard, 'which the same measure sees where somebody does').to.not.deep.equal([]);
  });

  it('let a subscriber that throws harm no work, and report it as an uncaught exception', async () => {
    const file = join(ROOT, 'test/diagnostics/throwing-subscriber.ts');
    const child = spawn(process.execPath, ['--import', 'tsx', file], { cwd: ROOT });
    const program = closeLater(new Program(child), (it) => it.kill('SIGKILL'));
    await program.prints(/^answered: echo: hello$/m);
    await program.prints(/^invoked: 1$/m);
    expect(await program.exited).to.equal(0);
    expect(program.output).to.match(/^uncaught: of operation start$/m);
    expect(program.output).to.match(/^uncaught: of run asyncEnd$/m);
    expect(program.output).to.match(/^uncaught: of append end$/m);
  });
});
