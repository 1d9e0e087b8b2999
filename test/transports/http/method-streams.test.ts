import { expect } from 'chai';
import { getContext } from '../../../server/index.js';
import { echo } from '../../support/apps.js';
import { gate } from '../../support/gate.js';
import { jsonHeaders, post, startGateway } from '../../support/gateway.js';
import { rawClient, requestText } from '../../support/raw-client.js';
import { postStream } from '../../support/sse-client.js';
import { holdWallClock } from '../../support/wall-clock.js';

/** A streaming method that says one thing and then waits until it is ended. */
function waiting() {
  const ended = gate();
  const watch = async function* () {
    const { signal } = getContext();
    try {
      yield 'first';
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    } finally {
      ended.open();
    }
  };
  return { watch, ended };
}

const invoke = (url: string, method: string, token?: string) =>
  postStream(`${url}/invoke`, { method }, jsonHeaders(token));

describe('a stream of a method over HTTP', () => {
  it('has heartbeats while it has nothing to say', async () => {
    const { watch } = waiting();
    const { url } = await startGateway({ app: echo, methods: { watch }, limits: { heartbeatMs: 30 } });
    const client = rawClient(url);
    client.socket.write(requestText('POST /invoke', { method: 'watch' }));
    await client.until(/event: chunk\ndata: "first"\n\n[\s\S]*?:\n\n[\s\S]*?:\n\n/);
  });

  it('ends when the token expires, and its handler with it', async () => {
    const letPass = holdWallClock();
    const { watch, ended } = waiting();
    const expiresAt = Date.now() + 60_000;
    const validate = () => ({ valid: true, user: { id: 'u' }, expiresAt });
    const { url } = await startGateway({
      app: echo,
      auth: { type: 'custom', validate },
      methods: { watch },
      limits: { heartbeatMs: 100 },
    });
    const stream = await invoke(url, 'watch');
    await stream.until(({ event }) => event === 'chunk');
    letPass(60_000);
    const { data } = await stream.until(({ event }) => event === 'fail');
    expect(data).to.include({ code: 'UNAUTHENTICATED' });
    await Promise.all([ended.passed, stream.ended]);
  });

  it('ends with the reason when the gateway shuts down', async () => {
    const { watch, ended } = waiting();
    const { url, gateway } = await startGateway({ app: echo, methods: { watch } });
    const stream = await invoke(url, 'watch');
    await stream.until(({ event }) => event === 'chunk');
    const closing = gateway.close();
    expect((await stream.until(({ event }) => event === 'fail')).data).to.include({ code: 'SHUTTING_DOWN' });
    await Promise.all([ended.passed, closing]);
  });

  it('is no end of the process where the clean-up of its handler fails after its reader has left', async () => {
    const { ended } = waiting();
    const watch = async function* () {
      try {
        for (;;) yield 'x';
      } finally {
        ended.open();
        // biome-ignore lint/correctness/noUnsafeFinally: it is what the test is about
        throw new Error('cannot clean up');
      }
    };
    const { url } = await startGateway({ app: echo, methods: { watch, ping: () => 1 } });
    const stream = await invoke(url, 'watch');
    await stream.until(({ event }) => event === 'chunk');
    stream.close();
    await ended.passed;
    expect((await post(`${url}/invoke`, { method: 'ping' })).body).to.equal(1);
  });
});
