import { expect } from 'chai';
import { decodeProtectedHeader, importJWK, jwtVerify } from 'jose';
import webPushLibrary from 'web-push';
import { clientPush } from '../../client/push/index.js';
import { type PushSender, webPush } from '../../server/features/notices/index.js';
import { createGateway } from '../../server/index.js';
import { connectClient, failure } from '../support/client.js';
import { post, startGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { asker, begin } from './begin.js';
import { PushService } from './push-service.js';
import { counted } from './seen.js';

const vapidKeys = webPushLibrary.generateVAPIDKeys();
const subject = 'mailto:ops@example.com';
const push = (options = {}): PushSender => webPush({ subject, vapidKeys, ...options });
const started = (options: { readonly push?: PushSender; readonly config?: object } = {}) =>
  begin(
    '',
    { webhooks: [], push: options.push ?? push(), url: ({ sessionId }) => `/chat/${sessionId}` },
    options.config,
  );

describe('web push', () => {
  it('reaches each browser of the user, encrypted for it and signed by the gateway', async () => {
    const service = await PushService.start();
    const { client } = await started();
    const [phone, laptop] = [service.browser('phone'), service.browser('laptop')];
    for (const { registration } of [phone, laptop]) await clientPush(client).subscribe(registration);
    const { runId } = await client.send('main', 'hi').result;
    await service.until(() => service.pushed.length === 2);
    expect(service.pushed.map(({ path }) => path).sort()).to.deep.equal(['/laptop', '/phone']);
    const [{ headers, body }] = service.pushed as [(typeof service.pushed)[0]];
    expect(body).to.deep.equal({
      ...{ id: `run_ended~${runId}`, kind: 'run_ended', sessionId: 'main', url: '/chat/main' },
      ...{ title: 'Your answer is there', body: '' },
    });
    expect(headers).to.include({ ttl: '86400', 'content-encoding': 'aes128gcm' });
    expect(headers.topic).to.match(/^[\w-]{32}$/);
    const [, token = '', key = ''] = /^vapid t=([^,]+), ?k=(.+)$/.exec(headers.authorization ?? '') ?? [];
    expect(key).to.equal(vapidKeys.publicKey);
    const raw = Buffer.from(key, 'base64url');
    const jwk = {
      kty: 'EC',
      crv: 'P-256',
      x: raw.subarray(1, 33).toString('base64url'),
      y: raw.subarray(33).toString('base64url'),
    };
    expect(decodeProtectedHeader(token).alg).to.equal('ES256');
    const { payload } = await jwtVerify(token, await importJWK(jwk, 'ES256'));
    expect(payload).to.include({ aud: service.url, sub: subject });
  });

  it('shows what an answer says, or what a host makes of it, where it is asked for', async () => {
    const service = await PushService.start();
    const show = ({ runId = '', text = '' }) => ({
      title: `Run ${runId.slice(0, 3)}`,
      body: text.toUpperCase(),
    });
    const { client } = await started({ push: push({ content: true, show }) });
    await clientPush(client).subscribe(service.browser('a').registration);
    // The mark would show the rest backwards.
    await client.send('main', 'hi \u202e').result;
    await service.until(() => service.pushed.length === 1);
    expect(service.pushed[0]!.body).to.include({ title: 'Run run', body: 'DID HI ?' });
  });

  for (const status of [404, 410])
    it(`drops a subscription of which its service says ${status}`, async () => {
      const service = await PushService.start();
      const { client, gateway, url } = await started();
      await clientPush(client).subscribe(service.browser('gone').registration);
      service.status = status;
      await client.send('main', 'hi').result;
      await until(() => counted(gateway, 'gone') === 1);
      expect((await post(`${url}/push`, {})).body).to.deep.include({ subscriptions: 0 });
    });

  it('tries again what a service refuses otherwise', async () => {
    const service = await PushService.start();
    const { client, gateway } = await started();
    await clientPush(client).subscribe(service.browser('a').registration);
    service.status = 429;
    await client.send('main', 'hi').result;
    await until(() => counted(gateway, 'failed') === 1);
    service.status = 201;
    for await (const { id } of gateway.failedNotices()) await gateway.resendNotice(id);
    await service.until(() => service.pushed.length === 1);
  });

  it('is subscribed to once, taken back, and subscribed to anew under another key', async () => {
    const service = await PushService.start();
    const { client, url } = await started();
    const browser = service.browser('a');
    const { subscribe, unsubscribe } = clientPush(client);
    const count = async () =>
      ((await post(`${url}/push`, {})).body as { subscriptions: number }).subscriptions;
    await subscribe(browser.registration);
    await subscribe(browser.registration);
    expect(await count()).to.equal(1);
    browser.options = { applicationServerKey: new ArrayBuffer(65) };
    await subscribe(browser.registration);
    const { applicationServerKey } = browser.options as { applicationServerKey: ArrayBuffer };
    expect(Buffer.from(applicationServerKey).toString('base64url')).to.equal(vapidKeys.publicKey);
    await unsubscribe(browser.registration);
    expect(browser.isSubscribed).to.equal(false);
    expect(await count()).to.equal(0);
    await unsubscribe(browser.registration);
  });

  it('goes to whoever has signed in to a browser last', async () => {
    const service = await PushService.start();
    const auth = {
      type: 'custom' as const,
      validate: (token: string) => ({ valid: true as const, user: { id: token } }),
    };
    const { url } = await started({ config: { auth } });
    const browser = service.browser('shared');
    for (const token of ['ann', 'ben']) {
      const client = connectClient(url, { token });
      await clientPush(client).subscribe(browser.registration);
    }
    for (const token of ['ann', 'ben']) await connectClient(url, { token }).send(`of-${token}`, 'hi').result;
    await service.until(() => service.pushed.length === 1);
    expect(service.pushed.map(({ body }) => body.sessionId)).to.deep.equal(['of-ben']);
  });

  it('has so many subscriptions of a user, to addresses that may be asked', async () => {
    const service = await PushService.start();
    const { client, url } = await started({ config: { limits: { pushSubscriptions: 1 } } });
    await clientPush(client).subscribe(service.browser('a').registration);
    const refused = await failure(clientPush(client).subscribe(service.browser('b').registration));
    expect(refused).to.include({ code: 'QUOTA_EXCEEDED' });
    expect(refused.message).to.include('limits.pushSubscriptions');
    const { keys } = service.browser('c').toJSON();
    for (const endpoint of ['ftp://push.example/', 'nowhere'])
      expect((await post(`${url}/push`, { add: { endpoint, keys } })).body).to.have.nested.property(
        'error.code',
        'INVALID_PARAMS',
      );
    const bad = await post(`${url}/push`, { add: { endpoint: service.url, keys: { ...keys, auth: 'x' } } });
    expect(bad.body).to.have.nested.property('error.code', 'INVALID_PARAMS');
    const strict = await startGateway({ app: asker, notify: { push: push() } });
    const own = await post(`${strict.url}/push`, { add: { endpoint: 'https://127.0.0.1/', keys } });
    expect(own.body).to.have.nested.property('error.code', 'INVALID_PARAMS');
  });

  it('is refused where a gateway sends none, and where it is made wrong', async () => {
    const service = await PushService.start();
    const { url } = await startGateway({ app: asker });
    const { registration } = service.browser('a');
    const refused = await failure(clientPush(connectClient(url)).subscribe(registration));
    expect(refused.message).to.include('notify.push');
    const { keys } = service.browser('b').toJSON();
    const added = await post(`${url}/push`, { add: { endpoint: 'https://push.example/', keys } });
    expect(added.body).to.have.nested.property('error.code', 'INVALID_PARAMS');
    expect(() => push({ subject: 'ops' })).to.throw('subject');
    expect(() => push({ vapidKeys: { publicKey: 'x', privateKey: 'y' } })).to.throw('vapidKeys.publicKey');
    expect(() => createGateway({ app: asker, notify: { push: push() } })).not.to.throw();
  });

  it('goes with an erasure of its user', async () => {
    const service = await PushService.start();
    const { client, gateway, url } = await started();
    await clientPush(client).subscribe(service.browser('a').registration);
    await gateway.erase({ user: { id: 'token' } });
    expect((await post(`${url}/push`, {})).body).to.deep.include({ subscriptions: 0 });
  });
});
