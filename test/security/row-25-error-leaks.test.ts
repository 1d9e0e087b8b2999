import { expect } from 'chai';
import { defineApp, GatewayError } from '../../server/index.js';
import { jsonHeaders, post, startGateway } from '../support/gateway.js';
import { openUnixSocket, openWebSocket } from '../support/raw-socket.js';
import { socketDirectory } from '../support/socket-directory.js';

const SECRET = 'secret /srv/app/db.ts password=hunter2';

function thrown(): Readonly<Record<string, () => never>> {
  const toss = (make: () => unknown) => () => {
    throw make();
  };
  return {
    error: toss(() => new Error(SECRET)),
    caused: toss(() => new GatewayError({ code: 'INTERNAL', cause: new Error(SECRET) })),
    text: toss(() => SECRET),
    nothing: toss(() => undefined),
    none: toss(() => null),
    zero: toss(() => 0),
    no: toss(() => false),
    blank: toss(() => ''),
    object: toss(() => ({ message: SECRET, stack: SECRET })),
  };
}

describe('threat row 25: errors that tell too much', () => {
  it('of methods are INTERNAL with an id, whatever was thrown, nothing included, on every door', async () => {
    const socketPath = `${socketDirectory()}/g.sock`;
    const { url, log } = await startGateway({
      app: defineApp({ run: () => 'x' }),
      socketPath,
      methods: thrown(),
    });
    const sockets = [await openWebSocket(url), await openUnixSocket(socketPath)];
    for (const socket of sockets) await socket.connect();
    for (const method of Object.keys(thrown())) {
      const answers = [(await post(`${url}/invoke`, { method })).body.error];
      for (const socket of sockets) {
        const frame = await socket.ask(method, 'invoke', { method });
        expect(frame.ok, method).to.equal(false);
        answers.push(frame.error);
      }
      for (const error of answers) {
        expect(error).to.include({ code: 'INTERNAL', message: 'Internal error' });
        expect(JSON.stringify(error)).to.not.match(/secret|hunter2|\.ts/);
        // The log has it, under the same id.
        expect(log.lines.some(({ message }) => message.includes(error.requestId))).to.equal(true);
      }
    }
  });

  it('of apps and of bad JSON say nothing either', async () => {
    const { url } = await startGateway({
      app: defineApp({
        run() {
          throw new Error(SECRET);
        },
      }),
    });
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'x' });
    expect(body.stopReason).to.equal('error');
    expect(JSON.stringify(body)).to.not.match(/secret|hunter2|\.ts/);
    const bad = await fetch(`${url}/invoke`, { method: 'POST', headers: jsonHeaders(), body: '{"method":' });
    const text = await bad.text();
    expect(bad.status).to.equal(400);
    expect(JSON.parse(text).error.code).to.equal('INVALID_REQUEST');
    expect(text).to.not.match(/\bat |\.ts|node_modules/);
  });

  it('keep code, status, message and details of the host’s own', async () => {
    const { url } = await startGateway({
      app: defineApp({ run: () => 'x' }),
      methods: {
        limit: () => {
          throw new GatewayError({ code: 'LIMIT', status: 409, message: 'Full', details: { max: 3 } });
        },
        odd: () => {
          throw new GatewayError({ code: 'LIMIT', status: 1000, message: 'Full', details: { max: 3n } });
        },
      },
    });
    const { status, body } = await post(`${url}/invoke`, { method: 'limit' });
    expect(status).to.equal(409);
    expect(body.error).to.include({ code: 'LIMIT', message: 'Full' });
    expect(body.error.details).to.deep.equal({ max: 3 });
    const odd = await post(`${url}/invoke`, { method: 'odd' });
    expect(odd.status).to.equal(500);
    expect(odd.body.error).to.include({ code: 'LIMIT', message: 'Full' }).and.not.have.property('details');
  });
});
