import type { Client } from 'agent-session-gateway/client';

/** Tells when the connection is lost and when it is back. Returns a function that stops this. */
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
