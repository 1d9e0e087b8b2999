import { clientInbox, type InboxEvent, type InboxRow } from '../../client/inbox/index.js';
import type { GatewayConfig } from '../../server/config/config.js';
import { defineApp } from '../../server/index.js';
import { connectClient } from '../support/client.js';
import { startGateway } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';

/** An app that answers at once, or first asks the person. */
export const answering = defineApp({
  async *run(turn) {
    if (turn.text === 'ask') await turn.ask({ name: 'sure' });
    yield `heard ${turn.text}`;
  },
});

/** Two people of one place, by their tokens. */
export const PEOPLE = {
  type: 'custom',
  validate: (token: string) => ({ valid: true, user: { id: token } }),
} as const;

/** A gateway with an inbox that answers. */
export async function begin(config: Partial<GatewayConfig> = {}) {
  const { url, gateway } = await startGateway({ app: answering, ...config } as GatewayConfig);
  const client = connectClient(url);
  return { url, gateway, client, inbox: clientInbox(client) };
}

/** What an inbox has shown of itself, by its events. */
export class Shown {
  readonly rows = new Map<string, InboxRow>();
  totals = { unread: 0, waiting: 0 };
  place: string | undefined;
  resets = 0;
  events = 0;
  #told: (() => void)[] = [];

  take({ sessions, reset, place, unread, waiting }: InboxEvent): void {
    this.events += 1;
    if (reset) {
      this.rows.clear();
      this.resets += 1;
    }
    for (const row of sessions) {
      if (row.ended) this.rows.delete(row.sessionId);
      else this.rows.set(row.sessionId, row);
    }
    this.totals = { unread, waiting };
    this.place = place ?? this.place;
    for (const told of this.#told.splice(0)) told();
  }

  /** Resolves once it shows what is asked for. */
  async until(isShown: (shown: Shown) => boolean): Promise<void> {
    while (!isShown(this)) await new Promise<void>((resolve) => this.#told.push(resolve));
  }

  /** Takes events until the returned function is called. */
  follow(events: AsyncIterable<InboxEvent>): Promise<void> {
    return (async () => {
      for await (const event of events) this.take(event);
    })();
  }
}

/** Follows an inbox until the end of the test. */
export function following(
  inbox: ReturnType<typeof clientInbox>,
  from?: string,
): Shown & { stop(): Promise<void> } {
  const shown = new Shown();
  const controller = new AbortController();
  const done = shown.follow(inbox.events({ from, signal: controller.signal }));
  const stop = async (): Promise<void> => {
    controller.abort();
    await done;
  };
  closeLater(controller, stop);
  return Object.assign(shown, { stop });
}
