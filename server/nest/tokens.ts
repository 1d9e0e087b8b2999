/** Injects the `Gateway`. */
export const GATEWAY = Symbol.for('agent-session-gateway.nest.gateway');

/** Injects the app of the single form, or the default app. */
export const GATEWAY_APP = Symbol.for('agent-session-gateway.nest.app');

/** Injects the options of the module. */
export const GATEWAY_OPTIONS = Symbol.for('agent-session-gateway.nest.options');

/** The token that injects one app of the multi form, by its name. */
export function getAppToken(name: string): symbol {
  return Symbol.for(`agent-session-gateway.nest.app.${name}`);
}
