import { fieldError, GatewayError } from '../../shared/errors.js';
import type { AppSummary, ToolSummary } from '../../shared/operation-types.js';
import { formatSessionKey, isAppName, parseSessionKey, type SessionKey } from '../../shared/session-key.js';
import { toJsonSchema } from '../schema/json-schema.js';
import { listPayloads } from '../schema/payloads.js';
import type { Application } from './application.js';
import { checkApp } from './check-app.js';
import type { ToolSet } from './tool.js';

/** The name under which the single form registers its app. */
export const SINGLE_APP = 'default';

/** The apps of a gateway, by name. */
export class AppRegistry {
  readonly defaultApp: string;
  readonly #apps: ReadonlyMap<string, Application>;

  /** @throws GatewayError `INVALID_REQUEST` that names the wrong field */
  constructor(apps: Readonly<Record<string, Application>>, defaultApp: string) {
    for (const [name, app] of Object.entries(apps)) {
      if (!isAppName(name))
        throw invalid(`apps.${name}`, 'an app name must be 1 to 128 of the characters A-Z a-z 0-9 _ . @ + -');
      checkApp(app, `apps.${name}.`, 'INVALID_REQUEST');
    }
    if (!Object.hasOwn(apps, defaultApp)) throw invalid('defaultApp', `there is no app named ${defaultApp}`);
    this.#apps = new Map(Object.entries(apps));
    this.defaultApp = defaultApp;
  }

  /** @throws GatewayError `APP_NOT_FOUND` */
  get(name: string): Application {
    const app = this.#apps.get(name);
    if (app) return app;
    throw this.unknown(name);
  }

  /** The error for an app that does not exist. An app that the caller may not use gets the same. */
  unknown(name: string): GatewayError {
    return new GatewayError({ code: 'APP_NOT_FOUND', message: `There is no app named ${name}` });
  }

  has(name: string): boolean {
    return this.#apps.has(name);
  }

  entries(): Iterable<[string, Application]> {
    return this.#apps.entries();
  }

  format(app: string, name: string): string {
    return formatSessionKey({ app, name }, this.defaultApp);
  }

  /** @throws GatewayError `INVALID_REQUEST` for a malformed key, `APP_NOT_FOUND` for an unknown app */
  parse(sessionId: string): SessionKey {
    const key = parseSessionKey(sessionId, this.defaultApp);
    this.get(key.app);
    return key;
  }

  summaries(): AppSummary[] {
    return [...this.#apps].map(([name, app]) => ({
      name,
      ...(app.description !== undefined && { description: app.description }),
      isDefault: name === this.defaultApp,
      ...(app.suggestions && {
        suggestions: app.suggestions.map((each) => (typeof each === 'string' ? { text: each } : each)),
      }),
      tools: listTools(app.tools ?? {}),
      ...(app.data && { data: listPayloads(app.data) }),
      ...(app.questions && { questions: listPayloads(app.questions) }),
    }));
  }
}

const toolLists = new WeakMap<object, readonly ToolSummary[]>();

/** Convert once: clients ask for the list often. */
function listTools(tools: ToolSet): readonly ToolSummary[] {
  let list = toolLists.get(tools);
  if (!list) {
    list = Object.entries(tools).map(([name, { description, schema }]) => {
      const { schema: input = null, problem } = schema ? toJsonSchema(schema, 'input') : {};
      return {
        name,
        ...(description !== undefined && { description }),
        ...(input && { input }),
        ...(problem !== undefined && { problem }),
      };
    });
    toolLists.set(tools, list);
  }
  return list;
}

function invalid(path: string, message: string): GatewayError {
  return fieldError(path, message, 'INVALID_REQUEST');
}
