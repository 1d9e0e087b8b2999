import type { Application } from '../../../server/index.js';
import { connectClient } from '../../support/client.js';
import { crashed, newDatabase, startDurable } from '../../support/durable.js';

/** A gateway after a crash in which a question of its app waited, and the id of that. */
export async function restartedAsking(
  app: Application,
  type: 'input_required' | 'tool_confirmation_required',
): Promise<{ readonly url: string; readonly callId: string }> {
  const path = newDatabase();
  const before = await startDurable(path, { app });
  const events = connectClient(before.url).events('main', { from: 'earliest' });
  connectClient(before.url)
    .send('main', 'Go')
    .result.catch(() => {});
  let callId = '';
  for await (const event of events) {
    if (event.type !== type) continue;
    callId = event.callId;
    break;
  }
  const copy = crashed(path);
  await before.gateway.close();
  const { url } = await startDurable(copy, { app });
  return { url, callId };
}
