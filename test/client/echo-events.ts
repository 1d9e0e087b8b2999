import type { GatewayEvent } from '../../client/index.js';

export const types = (events: readonly GatewayEvent[]) => events.map(({ type }) => type);
export const seqs = (events: readonly GatewayEvent[]) =>
  events.map(({ cursor }) => Number(cursor?.split('.')[2]));

/** The types of the events of a run of `echo`. */
export const RUN = ['message_accepted', 'message_start', 'content_delta', 'content_delta', 'message_end'];
