import { createServer } from 'node:net';
import { expect } from 'chai';
import { a2aPlugin } from '../../server/plugins/a2a/index.js';
import { chatCompletionsPlugin } from '../../server/plugins/chat-completions/index.js';
import { echo } from '../support/apps.js';
import { get, post, startGateway } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';

describe('threat row 33: addresses that a caller names', () => {
  it('are never connected to: not from fields, blocks, headers, queries or plugins', async () => {
    let connections = 0;
    const trap = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
    closeLater(trap, (it) => it.close());
    const address = trap.address() as { port: number };
    const evil = `http://127.0.0.1:${address.port}/x`;
    const { url, gateway } = await startGateway({ app: echo, methods: { echo: (params: never) => params } });
    const open = await startGateway({ app: echo, notify: { runWebhooks: {} } });
    gateway.use(chatCompletionsPlugin());
    for (const each of [gateway, open.gateway]) each.use(a2aPlugin());
    const headers = {
      referer: evil,
      'x-forwarded-host': evil,
      forwarded: `host=${evil}`,
      'x-callback': evil,
    };
    for (const type of ['image', 'file', 'audio'] as const) {
      const content = [
        { type: 'text', text: evil },
        { type, mediaType: 'image/png', url: evil },
        { type: 'resource', uri: evil },
      ];
      const { status } = await post(`${url}/send`, { sessionId: 'main', message: { content } }, headers);
      expect(status).to.equal(200);
    }
    await post(
      `${url}/invoke`,
      { method: 'echo', params: { url: evil, $ref: evil, callback: evil } },
      headers,
    );
    await get(`${url}/status?gatewayUrl=${encodeURIComponent(evil)}&callback=${encodeURIComponent(evil)}`);
    const { status } = await post(
      `${url}/v1/chat/completions`,
      {
        model: 'default',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'look' },
              { type: 'image_url', image_url: { url: evil } },
            ],
          },
        ],
        tools: [{ type: 'function', function: { name: 'f', parameters: { $ref: evil } } }],
      },
      headers,
    );
    expect(status).to.equal(200);
    for (const taskPushNotificationConfig of [{ url: evil }, { url: evil.replace('http:', 'https:') }]) {
      const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] };
      const params = { message, configuration: { taskPushNotificationConfig } };
      for (const at of [url, open.url]) {
        const { body } = await post(
          `${at}/a2a/default`,
          { jsonrpc: '2.0', id: 1, method: 'SendMessage', params },
          headers,
        );
        expect(body.error.code, at).to.be.oneOf([-32003, -32602]);
      }
    }
    expect(connections).to.equal(0);
  });
});
