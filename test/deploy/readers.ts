import { EventSource } from 'eventsource';
import type { Client } from '../../client/index.js';
import { TOKEN } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';

/** What is in the log of a session whose app only speaks; a stream has other events beside. */
export const LOGGED: readonly string[] = [
  'message_accepted',
  'message_start',
  'content_delta',
  'message_end',
];

/** What one reader was given of a session: the numbers of the events, in order. */
export interface Reader {
  readonly name: string;
  readonly seqs: number[];
  readonly gaps: unknown[];
  /** What broke it off for good. */
  failed?: unknown;
}

export const seqOf = (cursor: string): number => Number(cursor.split('.').at(-1));

export function withSdk(client: Client, sessionId: string, name: string): Reader {
  const reader: Reader = { name: `${name} of ${sessionId}`, seqs: [], gaps: [] };
  const events = client.events(sessionId, { from: 'earliest' });
  (async () => {
    for await (const event of events) {
      if (event.type === 'gap') reader.gaps.push(event);
      else if (event.cursor !== undefined) reader.seqs.push(seqOf(event.cursor));
    }
  })().catch((error: unknown) => {
    reader.failed = error;
  });
  return reader;
}

/** EventSource as it is: it comes back after what breaks off, and gives up for good at what is no stream of events. */
export function withEventSource(url: string, sessionId: string): Reader {
  const reader: Reader = { name: `EventSource of ${sessionId}`, seqs: [], gaps: [] };
  const source = new EventSource(`${url}/events?sessionId=${sessionId}&from=earliest&token=${TOKEN}`);
  closeLater(source, (it) => it.close());
  for (const type of LOGGED) {
    source.addEventListener(type, ({ lastEventId }) => reader.seqs.push(seqOf(lastEventId)));
  }
  source.addEventListener('gap', ({ data }) => reader.gaps.push(data));
  source.onerror = (error) => {
    if (source.readyState === EventSource.CLOSED) reader.failed = error;
  };
  return reader;
}
