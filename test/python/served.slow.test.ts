import { expect } from 'chai';
import { pulledApp, remoteApp, workPlugin } from '../../server/app-adapters/remote/index.js';
import { tool } from '../../server/index.js';
import { textOf } from '../../shared/messages.js';
import { connectClient } from '../support/client.js';
import { describeWith } from '../support/describe-with.js';
import { startGateway } from '../support/gateway.js';
import { NEEDS_PYTHON, PythonServer, runPython, SECRET } from './python.js';

const MODULE = 'tests.served_app:app';

describeWith(NEEDS_PYTHON, 'an app in Python', () => {
  it('asks, calls a tool, sleeps and begins a child, and answers as if it had never stopped', async () => {
    const { url } = await PythonServer.start(MODULE);
    const { url: at } = await startGateway({
      apps: {
        trip: remoteApp({
          url,
          secret: SECRET,
          tools: { price: tool({ description: 'A price', handler: async () => ({ euros: 12 }) }) },
        }),
        helper: { run: ({ text }: { readonly text: string }) => text.toUpperCase() },
      },
      defaultApp: 'trip',
    });
    const client = connectClient(at);
    const run = client.send('main', 'Oslo');
    const kinds: string[] = [];
    for await (const event of run) {
      kinds.push(event.type);
      if (event.type === 'input_required')
        await client.session('main').respond(event.callId, { output: 'Monday' });
      if (event.type === 'tool_confirmation_required') await client.session('main').approve(event.callId);
    }
    const { message, stopReason, usage } = await run.result;
    expect(textOf(message)).to.equal('To Oslo on Monday for 12 euros. Booked as OSLO-2: OSLO');
    expect(stopReason).to.equal('end');
    expect(usage).to.deep.include({ inputTokens: 3, outputTokens: 4 });
    expect(kinds.filter((kind) => kind === 'usage_added')).to.have.length(1);
    expect(message.content.map(({ type }) => type)).to.include.members(['reasoning', 'data', 'tool_use']);
    expect((await client.session('main').state()).title).to.equal('A trip');
  });

  it('hears that its run was ended', async () => {
    const { url, program } = await PythonServer.start(MODULE);
    const { url: at } = await startGateway({ app: remoteApp({ url, secret: SECRET, name: 'endless' }) });
    const run = connectClient(at).send('main', 'Go');
    for await (const piece of run.text) {
      expect(piece).to.equal('I go on. ');
      await run.abort();
    }
    await program.prints(/endless: cancelled/);
  });

  it('fails with its own error, and with no words of any other', async () => {
    const { url, program } = await PythonServer.start(MODULE);
    const { url: at } = await startGateway({ app: remoteApp({ url, secret: SECRET, name: 'fails' }) });
    const client = connectClient(at);
    expect((await client.send('a', 'coded').result).error).to.deep.equal({
      code: 'NO_SEATS',
      message: 'There are none',
    });
    const { error } = await client.send('b', 'other').result;
    expect(error).to.deep.equal({ code: 'INTERNAL', message: 'The app failed' });
    await program.prints(/ValueError: a secret/);
  });

  it('asks for its work from where no gateway can call it', async () => {
    const gpu = pulledApp({ secret: SECRET, name: 'long', sliceMs: 400 });
    const { gateway, url } = await startGateway({ app: gpu });
    gateway.use(workPlugin({ long: gpu }));
    const client = connectClient(url);
    const work = () => runPython(['-m', 'tests.served_app', `${url}/work`, 'long']);
    const gone = new Set([work(), work()]);
    const runs = Array.from({ length: 6 }, (_, i) => client.send(`s${i}`, 'go'));
    const texts = Promise.all(runs.map(async ({ result }) => textOf((await result).message)));
    // One of both dies, and another takes its place.
    for await (const _ of runs[0]!.text) break;
    const [first] = gone;
    await first!.kill('SIGKILL');
    work();
    expect(new Set(await texts)).to.deep.equal(new Set(['0 1 2 3 4 5 6 7 ']));
  });

  it('is refused work without the secret', async () => {
    const gpu = pulledApp({ secret: SECRET, name: 'long' });
    const { gateway, url } = await startGateway({ app: gpu });
    gateway.use(workPlugin({ long: gpu }));
    const other = Buffer.alloc(32, 'x').toString('base64');
    const program = runPython(['-m', 'tests.served_app', `${url}/work`, 'long'], { APP_SECRET: other });
    expect(await program.exited).to.equal(1);
    expect(program.output).to.match(/^agent_session_gateway.*GatewayError: UNAUTHENTICATED: /m);
  });
});
