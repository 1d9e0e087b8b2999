import type { Application } from '../apps/application.js';
import type { AppRegistry } from '../apps/registry.js';
import type { ParsedConfig } from '../config/parse.js';
import { givenId } from '../ids.js';
import type { Quotas } from '../limits/quotas.js';
import { type FeatureParts, joined } from '../operations/feature.js';
import { checkLogged } from '../schema/check-logged.js';
import type { GivenEnvironment, SessionEnvironment } from '../sessions/environment.js';
import { guardsOf } from './guards.js';

/** The work of features before all that is kept of a session or scope is dropped. */
export const erasingOf =
  (features: readonly FeatureParts[]): SessionEnvironment['erasing'] =>
  (home) =>
    Promise.all(features.map(({ erasing }) => erasing?.(home)));

/** The parts of a gateway as its sessions know them. */
export function sessionEnvironment(
  config: ParsedConfig,
  parts: {
    readonly apps: AppRegistry;
    readonly quotas: Quotas;
    readonly features: readonly FeatureParts[];
  } & Pick<
    SessionEnvironment,
    | 'store'
    | 'kinds'
    | 'slots'
    | 'tenancy'
    | 'moderation'
    | 'holder'
    | 'files'
    | 'reaches'
    | 'ungranted'
    | 'isSpare'
    | 'notify'
    | 'report'
    | 'now'
  >,
): GivenEnvironment {
  const { apps, quotas, features, ...given } = parts;
  const { limits, id: gatewayId, onDisconnect } = config;
  const guards = guardsOf(config, given.report);
  return {
    ...{ limits, gatewayId, onDisconnect },
    ...{ workers: joined(features, 'work'), exporters: joined(features, 'exports') },
    gates: features.flatMap(({ gate }) => gate ?? []),
    prices: features.flatMap(({ prices }) => prices ?? []),
    takesUp: features.flatMap(({ takesUp }) => takesUp ?? []),
    erasing: (home) => erasingOf(features)(home),
    addedOfSender: features.flatMap(({ recordsOfSender }) => recordsOfSender ?? []),
    addedRecords: features.flatMap(({ recordsOf }) => recordsOf ?? []),
    ...given,
    sessionsIn: (scope) => quotas.sessions(scope),
    app: (name): Application => apps.get(name),
    guardOf: (app) => guards.of(app),
    format: (app, name) => apps.format(app, name),
    checkPayload(kind, name, payload) {
      givenId(name, kind === 'channels' ? 'channel' : 'name');
      checkLogged(config[kind], name, payload, (error) => parts.report(error, `payload of ${kind} ${name}`));
    },
  };
}
