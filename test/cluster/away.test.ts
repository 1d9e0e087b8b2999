import { expect } from 'chai';
import { type ConnectionEndMessage, channels } from '../../server/diagnostics/index.js';
import type { Member, SharedStore } from '../../server/stores/shared-store.js';
import { echo } from '../support/apps.js';
import { jsonHeaders, startGateway } from '../support/gateway.js';
import { MemoryHub } from '../support/memory-hub.js';
import { closeLater } from '../support/resources.js';
import { openStream } from '../support/sse-client.js';
import { until } from '../support/until.js';

describe('streams while the store is away', () => {
  it('end for this reason, and those that come meanwhile are counted and told to come back', async () => {
    const { store } = new MemoryHub().node();
    const shared = store.shared!;
    let member!: Member;
    const join: SharedStore['join'] = (joining) => {
      member = joining;
      return shared.join(joining);
    };
    const { gateway, url } = await startGateway({
      app: echo,
      store: Object.assign(Object.create(store), { shared: Object.assign(Object.create(shared), { join }) }),
    });
    const ends: ConnectionEndMessage[] = [];
    const ended = (message: ConnectionEndMessage): void => void ends.push(message);
    channels.connectionEnd.subscribe(ended);
    closeLater(ended, (it) => void channels.connectionEnd.unsubscribe(it));
    const headers = jsonHeaders();
    const stream = await openStream(`${url}/events?sessionId=main`, { headers });
    await stream.until(({ event }) => event === 'connected');
    expect(gateway.stats().delivered.turnedAway).to.deep.equal({ drain: 0, away: 0, overload: 0 });
    member.away();
    await until(() => ends.some(({ gatewayId }) => gatewayId === gateway.id));
    expect(ends.filter(({ gatewayId }) => gatewayId === gateway.id)[0]!.reason).to.equal('away');
    const answer = await fetch(`${url}/events?sessionId=main`, { headers });
    expect(answer.status).to.equal(200);
    expect(await answer.text()).to.match(/^retry: \d+\n\n$/);
    expect(gateway.stats().delivered.turnedAway).to.deep.equal({ drain: 0, away: 1, overload: 0 });
    member.lapsed();
    const again = await openStream(`${url}/events?sessionId=main`, { headers });
    await again.until(({ event }) => event === 'connected');
    again.close();
  });
});
