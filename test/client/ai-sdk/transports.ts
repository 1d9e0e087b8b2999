import { gatewayChat } from '../../../client/ai-sdk/index.js';
import { createClient } from '../../../client/index.js';
import type { MAJORS, UiGateway } from '../../plugins/ui-message-stream/fixtures.js';
import { closeLater } from '../../support/resources.js';

/** The transport of a client of its own, which is disconnected after the test. */
export function transportOf(url: string, options = {}) {
  const client = createClient({ baseUrl: url, token: 'alice' });
  closeLater(client, (it) => it.disconnect());
  return gatewayChat(client, options);
}

/** A chat of an interface whose transport is given. */
export const chatOver = (ui: UiGateway, major: (typeof MAJORS)[number], transport: object, init = {}) =>
  ui.chat(major, { ...init, transport });
