import { andThen } from '../async/maybe-promise.js';
import { listMethods, listPayloads } from '../methods/catalogue.js';
import type { Handlers } from './call.js';
import type { OperationEnvironment } from './environment.js';
import type { OperationParts } from './operation-parts.js';

/** The operations that describe the gateway to a caller, and let it in again. */
export const serviceOperations = (
  { tickets, methods, payloads, documents }: OperationEnvironment,
  { access }: OperationParts,
): Handlers<'apps' | 'ticket' | 'methods' | 'openapi'> => ({
  apps: (_params, { caller }) => andThen(access.apps(caller.person), (apps) => ({ apps })),
  ticket: (_params, { caller }) => tickets.issue(caller.person),
  methods: (_params, { caller }) => ({
    version: 1,
    methods: listMethods(methods, caller.person.user),
    channels: listPayloads(payloads.channels),
    events: listPayloads(payloads.events),
  }),
  openapi: (_params, { caller }) => documents.openapi(caller.person.user),
});
