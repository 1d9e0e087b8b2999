import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import express from 'express';
import supertest from 'supertest';
import * as ownInbox from '../../client/inbox/index.js';
import * as ownClient from '../../client/index.js';
import * as own from '../../server/index.js';
import { StoreError } from '../../server/stores/append.js';
import { echo } from '../support/apps.js';
import { TestLogger } from '../support/gateway.js';
import { ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { tempDir } from '../support/temp-dir.js';

type Server = typeof own;
type Made = ReturnType<Server['createGateway']>;

// Next.js makes a copy of the package for a route, and another one for a page.
describe('two copies of the package in one process', () => {
  let other: Server;
  let otherClient: typeof ownClient;
  let otherInbox: typeof ownInbox;
  let OtherStoreError: typeof StoreError;

  before(async () => {
    const copy = tempDir();
    for (const part of ['package.json', 'tsconfig.json', 'server', 'shared', 'client'])
      cpSync(join(ROOT, part), join(copy, part), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    const load = (path: string) => import(pathToFileURL(join(copy, path)).href);
    other = await load('server/index.ts');
    otherClient = await load('client/index.ts');
    otherInbox = await load('client/inbox/index.ts');
    ({ StoreError: OtherStoreError } = await load('server/stores/append.ts'));
    expect(other.createGateway).not.to.equal(own.createGateway);
  });

  function gatewayOf(copy: Server, config: object = {}): Made {
    const made = copy.createGateway({
      ...{ app: echo, embedded: true, auth: { type: 'none' }, logger: new TestLogger() },
      ...config,
    } as never);
    return closeLater(made as never as Made, (it) => it.close());
  }

  it('reach a gateway of the other copy in process, with the client of either', async () => {
    const gateway = gatewayOf(other);
    await gateway.start();
    const transport = own.createInProcessTransport(gateway, { user: { id: 'alice' } });
    const client = ownClient.createClient({ transport });
    closeLater(client, (it) => it.disconnect());
    const { message } = await client.send('main', 'hi').result;
    expect(message?.content[0]).to.include({ text: 'echo: hi' });
    expect(await ownInbox.clientInbox(client).list()).to.be.an('object');
    expect(await otherInbox.clientInbox(client as never).list()).to.be.an('object');
    expect(otherClient.createClient).not.to.equal(ownClient.createClient);
  });

  it('say of anything else that it is no gateway', () => {
    expect(() => own.createInProcessTransport({} as never))
      .to.throw('not a gateway')
      .with.property('code', 'INVALID_REQUEST');
  });

  it('serve a gateway of the other copy as middleware', async () => {
    const gateway = gatewayOf(other);
    const router = own.gatewayMiddleware(gateway);
    expect(router.gateway).to.equal(gateway);
    const answer = await supertest(express().use('/agent', router)).get('/agent/status');
    expect(answer.status).to.equal(200);
  });

  it('open a session of an app of the other copy', async () => {
    const app = other.defineApp({
      async *run() {
        yield 'hello';
      },
    });
    const gateway = gatewayOf(own, { app });
    await gateway.start();
    const { message } = await app.session('main', { anonymous: true }).send('hi').result;
    expect(message?.content[0]).to.include({ text: 'hello' });
  });

  it('give the context of a call to code of the other copy', async () => {
    const whoami = own.method({ handler: async () => other.getContext().user?.id });
    const gateway = gatewayOf(own, { methods: { whoami } });
    await gateway.start();
    const client = ownClient.createClient<any>({
      transport: own.createInProcessTransport(gateway, { user: { id: 'alice' } }),
    });
    closeLater(client, (it) => it.disconnect());
    expect(await client.invoke('whoami')).to.equal('alice');
  });

  it('know the errors of each other', () => {
    const failed = new other.ToolCallError({ callId: 'a', toolName: 'b' }, 'no');
    expect(failed).to.be.instanceOf(own.ToolCallError);
    expect(new OtherStoreError('FENCED', 'no')).to.be.instanceOf(StoreError);
    expect(own.isGatewayError(new other.GatewayError({ code: 'INTERNAL' }))).to.equal(true);
    expect(own.isGuardError(new other.GuardError())).to.equal(true);
    class Further extends StoreError {}
    expect(new StoreError('FENCED', 'no')).not.to.be.instanceOf(Further);
    expect(new Further('FENCED', 'no')).to.be.instanceOf(Further).and.to.be.instanceOf(StoreError);
    for (const one of [null, undefined, 'x', {}, new Error('x'), failed])
      expect(one instanceof StoreError).to.equal(false);
  });
});
