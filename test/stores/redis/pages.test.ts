import { expect } from 'chai';
import { defineApp } from '../../../server/index.js';
import { redisStore } from '../../../server/stores/redis/index.js';
import { get, post, startGateway } from '../../support/gateway.js';
import { describeWithRedis, newPrefix, RedisServer } from '../../support/redis-server.js';

describeWithRedis('pages of a gateway on Redis', () => {
  let server: RedisServer;

  before(async () => {
    server = await RedisServer.start();
  });
  after(() => server.stop());

  it('lead through the whole list of sessions, and through the whole inbox', async () => {
    const app = defineApp({
      async *run(turn) {
        yield turn.text;
      },
    });
    const store = redisStore({ url: server.url, prefix: newPrefix() });
    const { url } = await startGateway({ app, store });
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const sessionId of names) await post(`${url}/send`, { sessionId, message: 'hi' });
    for (const [path, parameter] of [
      ['sessions', 'before'],
      ['inbox', 'cursor'],
    ]) {
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const from: string = cursor && `&${parameter}=${cursor}`;
        const { status, body } = await get(`${url}/${path}?limit=2${from}`);
        expect(status, JSON.stringify(body)).to.equal(200);
        seen.push(...body.sessions.map(({ sessionId }: { sessionId: string }) => sessionId));
        cursor = body.cursor;
      }
      expect(seen.sort(), path).to.deep.equal(names);
    }
  });
});
