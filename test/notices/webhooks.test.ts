import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { isPrivateAddress, publicLookup } from '../../server/features/notices/addresses.js';
import { verifyWebhook } from '../../server/features/notices/index.js';
import { createGateway, type NotifyOptions } from '../../server/index.js';
import { signatureOf } from '../../server/runtime/signature.js';
import { collect, failure } from '../support/client.js';
import { until } from '../support/until.js';
import { asker, begin } from './begin.js';
import { Receiver, SECRET } from './receiver.js';
import { counted } from './seen.js';

const OTHER = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;

describe('webhooks', () => {
  it('are signed as an independent library verifies it, by both secrets while one replaces the other', async () => {
    const receiver = await Receiver.start();
    const { client } = await begin(receiver.url, {
      webhooks: { url: receiver.url, secrets: [SECRET, OTHER], content: true },
    });
    await client.send('main', 'grüß dich 🙂').result;
    const [received] = await receiver.until((all) => all.length > 0);
    const { raw, headers } = received!;
    for (const secret of [SECRET, OTHER])
      expect(new Webhook(secret).verify(raw, headers)).to.deep.equal(received!.body);
    const wrong = new Webhook(Buffer.alloc(32, 3).toString('base64'));
    expect(() => wrong.verify(raw, headers)).to.throw();
    expect(() => new Webhook(SECRET).verify(raw.replace('main', 'mine'), headers)).to.throw();
  });

  it('have no half of a character where their text is cut', async () => {
    const receiver = await Receiver.start();
    const { client } = await begin(receiver.url, {
      webhooks: { url: receiver.url, secrets: SECRET, content: true },
    });
    await client.send('main', `a${'😀'.repeat(4000)}`).result;
    const [received] = await receiver.until((all) => all.length > 0);
    const { text } = received!.body.data as { readonly text: string };
    expect(text).to.have.length(4095);
    expect(/\p{Cs}/u.test(text)).to.equal(false);
  });

  it('of the independent library are verified, and nothing else is', async () => {
    const body = JSON.stringify({
      type: 'run_ended',
      timestamp: new Date().toISOString(),
      data: { id: 'a' },
    });
    const at = new Date();
    const headers = (when = at, secret = SECRET) => ({
      'Webhook-Id': 'msg_1',
      'webhook-timestamp': `${Math.floor(when.getTime() / 1000)}`,
      'webhook-signature': `v1a,other ${new Webhook(secret).sign('msg_1', when, body)}`,
    });
    const good = { headers: headers(), body };
    expect((await verifyWebhook(good, SECRET)).data).to.deep.equal({ id: 'a' });
    expect((await verifyWebhook(good, [OTHER, SECRET])).type).to.equal('run_ended');
    const request = new Request('http://x/', { method: 'POST', body, headers: headers() });
    expect((await verifyWebhook(request, SECRET)).data.id).to.equal('a');
    expect(
      (await verifyWebhook({ headers: new Headers(headers()), body: Buffer.from(body) }, SECRET)).data.id,
    ).to.equal('a');
    const refused: readonly (readonly [Parameters<typeof verifyWebhook>[0], string])[] = [
      [good, OTHER],
      [{ ...good, body: `${body} ` }, SECRET],
      [{ headers: { ...good.headers, 'Webhook-Id': 'msg_2' }, body }, SECRET],
      [{ headers: headers(new Date(at.getTime() - 301_000)), body }, SECRET],
      [{ headers: headers(new Date(at.getTime() + 303_000)), body }, SECRET],
      [{ headers: { ...good.headers, 'webhook-timestamp': 'soon' }, body }, SECRET],
      [{ headers: { ...good.headers, 'webhook-signature': 'v1,' }, body }, SECRET],
      [{ headers: {}, body }, SECRET],
    ];
    for (const [received, secret] of refused)
      expect(await failure(verifyWebhook(received, secret))).to.include({ code: 'UNAUTHENTICATED' });
    const old = { headers: headers(new Date(at.getTime() - 301_000)), body };
    expect((await verifyWebhook(old, SECRET, { toleranceMs: 600_000 })).data.id).to.equal('a');
    expect(await failure(verifyWebhook(good, 'short'))).to.include({ code: 'INVALID_REQUEST' });
    expect(await failure(verifyWebhook(good, []))).to.include({ code: 'INVALID_REQUEST' });
  });

  it('have the same signature as the library gives', () => {
    const at = new Date(1_700_000_000_000);
    const signed = { id: 'msg_1', timestamp: at.getTime() / 1000, body: '{"a":1}' };
    expect(signatureOf(signed, SECRET)).to.equal(new Webhook(SECRET).sign('msg_1', at, '{"a":1}'));
  });

  it('follow no redirect, and have so long to answer', async () => {
    const elsewhere = await Receiver.start();
    const moved = await Receiver.start((response) =>
      response.writeHead(307, { location: elsewhere.url }).end(),
    );
    const hangs = await Receiver.start(() => {});
    const secrets = SECRET;
    const { client, gateway } = await begin('', {
      webhooks: [
        { url: moved.url, secrets, name: 'moved' },
        { url: hangs.url, secrets, name: 'hangs', timeoutMs: 100 },
      ],
    });
    await client.send('main', 'hi').result;
    await until(() => counted(gateway, 'failed') === 2);
    const failed = await collect(gateway.failedNotices());
    expect(failed.map(({ target, error }) => [target, error]).sort()).to.deep.equal([
      ['webhook:hangs', 'no answer in 100 ms'],
      ['webhook:moved', 'redirects are not followed (307)'],
    ]);
    expect(elsewhere.all).to.deep.equal([]);
  });

  it('are told once a receiver has said so, however much it says and however it ends', async () => {
    const receiver = await Receiver.start((response) => {
      response.writeHead(200);
      response.write('x'.repeat(1024 * 1024));
    });
    const { client, gateway } = await begin(receiver.url);
    await client.send('main', 'hi').result;
    await until(() => counted(gateway, 'told') === 1);
  });

  it('go to no private address, also where a name leads to one', async () => {
    const { port } = new URL((await Receiver.start()).url);
    const https = (host: string) => ({ url: `https://${host}:${port}/`, secrets: SECRET });
    const { client, gateway } = await begin('', { webhooks: https('localhost'), allowPrivate: false });
    await client.send('main', 'hi').result;
    await until(() => counted(gateway, 'failed') === 1);
    const [failed] = await collect(gateway.failedNotices());
    expect(failed!.error).to.include('localhost is, or leads to, a private address');
    const hosts = [
      '127.0.0.1',
      '[::1]',
      '2130706433',
      '0x7f.1',
      '169.254.169.254',
      '[::ffff:10.0.0.1]',
      '[fd00::1]',
    ];
    for (const host of hosts)
      expect(() => createGateway({ app: asker, notify: { webhooks: https(host) } }), host).to.throw(
        'private address',
      );
  });

  it('know which addresses are private', () => {
    const own = [
      '10.1.2.3',
      '172.31.0.1',
      '192.168.1.1',
      '100.64.0.1',
      '0.0.0.0',
      '224.0.0.1',
      '255.255.255.255',
      '168.63.129.16',
    ];
    const six = [
      '::',
      'fe80::1%eth0',
      'fc00::1',
      '::ffff:169.254.169.254',
      '::ffff:7f00:1',
      '64:ff9b::a00:1',
      '2002:7f00:1::',
      '::ffff:0:a00:1',
      '::ffff:0:10.0.0.1',
      '5f00::1',
      '3fff::1',
      '3fff:fff::1',
      '2001:2::1',
      '2001:20::1',
      '2001:db8::1',
      '100:0:0:1::1',
    ];
    for (const address of [...own, ...six, 'not one'])
      expect(isPrivateAddress(address), address).to.equal(true);
    for (const address of [
      '8.8.8.8',
      '172.32.0.1',
      '168.63.129.17',
      '2606:4700::1111',
      '2001:4860:4860::8888',
      '2a00:1450::1',
      '::ffff:8.8.8.8',
    ])
      expect(isPrivateAddress(address), address).to.equal(false);
  });

  it('look a name up as they connect, whichever way they are asked', async () => {
    for (const all of [true, false]) {
      const error = await new Promise((resolve) =>
        publicLookup('localhost', { all }, (problem) => resolve(problem)),
      );
      expect(`${error}`).to.include('private address');
    }
  });

  it('are refused where they are not as they should be, by the name of the field', () => {
    const url = 'https://hooks.example/';
    const refused: readonly (readonly [NotifyOptions, string])[] = [
      [{ webhooks: { url, secrets: Buffer.alloc(23).toString('base64') } }, 'notify.webhooks.secrets'],
      [{ webhooks: { url, secrets: 'not base64 at all, but long enough' } }, 'notify.webhooks.secrets'],
      [{ webhooks: { url: 'http://hooks.example/', secrets: SECRET } }, 'notify.webhooks.url'],
      [{ webhooks: { url: 'https://a:b@hooks.example/', secrets: SECRET } }, 'notify.webhooks.url'],
      [{ webhooks: [{ url: 'nowhere', secrets: SECRET }] }, 'notify.webhooks.0.url'],
      [
        {
          webhooks: [
            { url, secrets: SECRET },
            { url, secrets: SECRET },
          ],
        },
        'notify.webhooks.1.name',
      ],
      [{ webhooks: { url, secrets: SECRET, timeoutMs: 60_000 } }, 'notify.webhooks'],
      [{ unseenMs: -1 }, 'notify.unseenMs'],
      [{ on: ['mention' as never] }, 'notify.on'],
      [{ push: {} as never }, 'notify.push'],
    ];
    for (const [notify, path] of refused)
      expect(() => createGateway({ app: asker, notify }), path).to.throw(path);
  });
});
