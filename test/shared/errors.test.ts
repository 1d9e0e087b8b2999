import { expect } from 'chai';
import { build } from 'esbuild';
import { GatewayError, GuardError, isGatewayError, isGuardError } from '../../shared/errors.js';
import { ROOT } from '../support/program.js';

describe('GatewayError', () => {
  it('takes status, message and retryable from the table, and anything else from its maker', () => {
    expect(new GatewayError({ code: 'QUEUE_FULL' })).to.include({
      status: 429,
      message: 'The session queue is full',
      retryable: true,
    });
    const own = new GatewayError({ code: 'QUEUE_FULL', status: 418, message: 'no', retryable: false });
    expect(own).to.include({ status: 418, message: 'no', retryable: false });
    expect(new GatewayError({ code: 'TEAPOT' })).to.include({ status: 500, message: 'TEAPOT' });
    const cause = new Error('inner');
    expect(new GatewayError({ code: 'INTERNAL', cause })).to.have.property('cause', cause);
    expect(new GatewayError({ code: 'INTERNAL' })).not.to.have.property('cause');
  });

  it('has the same wire form after a trip, with its status and without stack or cause', () => {
    const error = new GatewayError({
      code: 'INVALID_PARAMS',
      details: [{ path: 'a', message: 'b' }],
      retryAfterMs: 5,
      cause: new Error('secret'),
    });
    const body = JSON.parse(JSON.stringify(error));
    expect(body).to.deep.equal({
      code: 'INVALID_PARAMS',
      message: 'The parameters do not match the schema',
      status: 400,
      details: [{ path: 'a', message: 'b' }],
      retryAfterMs: 5,
    });
    expect(GatewayError.fromJSON(body).toJSON()).to.deep.equal(body);
    expect(GatewayError.fromJSON(body, 422).status).to.equal(422);
  });

  it('is recognised by its brand, a denial also by its class', () => {
    const denied = GatewayError.fromJSON(new GuardError({ guardType: 'role' }).toJSON());
    expect(denied).to.be.instanceOf(GuardError).and.include({ guardType: 'role', status: 403 });
    expect(isGuardError(denied)).to.equal(true);
    // As a handler throws it, without a word on which check it stands for.
    for (const bare of [new GuardError(), new GatewayError({ code: 'GUARD_DENIED' })])
      expect(JSON.parse(JSON.stringify(bare))).to.include({ guardType: 'custom' });
    expect(isGatewayError({ code: 'GUARD_DENIED' })).to.equal(false);
  });

  it("has what it needs in a client's bundle, which leaves the table out", async () => {
    const { outputFiles } = await build({
      entryPoints: ['client/index.ts'],
      absWorkingDir: ROOT,
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'browser',
    });
    const url = `data:text/javascript;base64,${Buffer.from(outputFiles[0]!.contents).toString('base64')}`;
    const client = await import(url);
    expect(new client.GatewayError({ code: 'NETWORK' })).to.include({ status: 0, retryable: true });
    expect(new client.GatewayError({ code: 'ABORTED' }))
      .to.include({ status: 0 })
      .and.not.have.property('retryable');
    const body = new GatewayError({ code: 'QUEUE_FULL' }).toJSON();
    expect(client.GatewayError.fromJSON(body).toJSON()).to.deep.equal(body);
    expect(isGatewayError(client.GatewayError.fromJSON(body))).to.equal(true);
  });
});
