import type { Client } from 'agent-session-gateway/client';

/** Tells of a connection that was lost, and of when it is there again. Returns what stops it. */
export function watchConnection(client: Client, tell: (text: string) => void): () => void {
  let isLost = false;
  return client.on('state', (state) => {
    if (state === 'reconnecting' && !isLost) {
      isLost = true;
      tell('(the connection is lost; trying again)');
    } else if (state === 'open' && isLost) {
      isLost = false;
      tell('(connected again)');
    }
  });
}
