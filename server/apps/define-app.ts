import { GatewayError } from '../../shared/errors.js';
import { inEveryCopy } from '../../shared/in-every-copy.js';
import type { Application, ContentSchemas } from './application.js';
import { checkApp } from './check-app.js';
import type { SessionHandle, SessionOptions } from './session-handle.js';
import type { ToolSet } from './tool.js';

/** An app that knows its gateway once it is registered. */
export interface App<
  Tools extends ToolSet = any,
  Data extends ContentSchemas = any,
  Questions extends ContentSchemas = any,
> extends Application<Tools, Data, Questions> {
  /**
   * A session of this app, for host code.
   *
   * @throws GatewayError `APP_NOT_FOUND` before the app is registered with a gateway.
   */
  session(name: string, options?: SessionOptions): SessionHandle;
}

/** Opens sessions of an app for the gateway that registered it. */
export type OpenSession = (name: string, options?: SessionOptions) => SessionHandle;

const registrations = inEveryCopy('apps', () => new WeakMap<object, OpenSession>());

/** Connects an app to the gateway that registered it. The last gateway wins. */
export function registerApp(app: object, open: OpenSession): void {
  registrations.set(app, open);
}

/**
 * Defines an app: its description, its tools, and the `run` that answers a message.
 *
 * @throws GatewayError `INVALID_PARAMS` for an app without `run`, and for a tool, data block or question that is declared wrongly (a raw
 *   shape as its schema, no handler, an invalid `confirm`), naming the field
 *
 * @example
 * ```ts
 * const assistant = defineApp({
 *   description: 'Answers, and looks customers up',
 *   async *run(turn) {
 *     yield 'You said: ';
 *     yield turn.text;
 *   },
 * });
 * ```
 */
export function defineApp<
  const Tools extends ToolSet = Readonly<Record<never, never>>,
  const Data extends ContentSchemas = Readonly<Record<never, never>>,
  const Questions extends ContentSchemas = Readonly<Record<never, never>>,
>(definition: Application<Tools, Data, Questions>): App<Tools, Data, Questions> {
  checkApp(definition);
  const app: App<Tools, Data, Questions> = {
    ...definition,
    session(name, options) {
      const open = registrations.get(app);
      if (open) return open(name, options);
      throw new GatewayError({
        code: 'APP_NOT_FOUND',
        message: 'Register the app with a gateway before using session()',
      });
    },
  };
  return app;
}
