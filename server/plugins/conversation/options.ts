import type { OnBusy } from '../../../shared/events.js';
import type { AppSummary } from '../../../shared/operation-types.js';
import { fieldError } from './errors.js';

/** The treatment of requests. */
export interface ConversationOptions {
  /** The effect of a message that comes while another one is answered. @default 'queue' */
  readonly onBusy: Exclude<OnBusy, 'steer'>;
  /**
   * Whether an answer ends if the client that has asked for it leaves its stream: by a stop button, and just so by a reload or a cut.
   *
   * @default 'continue'
   */
  readonly onLeave: 'continue' | 'abort';
  /**
   * Whether questions that a user's message would wait for stay open, or are denied first.
   *
   * @default 'deny' at `uiMessageStreamPlugin`, whose pages can answer nothing while their message waits; else 'keep'
   */
  readonly openQuestions: 'keep' | 'deny';
  /**
   * Whether a client's own conversation becomes the beginning of a session that has not begun. Beware: a client can invent answers of the
   * assistant and its tools.
   *
   * @default true
   */
  readonly seed: boolean;
}

/** Reads the given options of a door. @throws GatewayError `INVALID_REQUEST` */
export function readConversationOptions(
  { onBusy, onLeave, openQuestions, seed = true }: Partial<ConversationOptions>,
  defaults: Pick<ConversationOptions, 'openQuestions'> = { openQuestions: 'keep' },
): ConversationOptions {
  if (openQuestions !== undefined && openQuestions !== 'keep' && openQuestions !== 'deny')
    throw fieldError('openQuestions', "must be 'keep' or 'deny'");
  if (typeof seed !== 'boolean') throw fieldError('seed', 'must be true or false');
  return {
    ...{ onBusy: readOnBusy(onBusy), onLeave: readOnLeave(onLeave) },
    ...{ openQuestions: openQuestions ?? defaults.openQuestions, seed },
  };
}

/** @throws GatewayError `INVALID_REQUEST` */
export function readOnBusy(onBusy: ConversationOptions['onBusy'] = 'queue'): ConversationOptions['onBusy'] {
  if (['queue', 'interrupt', 'reject'].includes(onBusy)) return onBusy;
  throw fieldError('onBusy', "must be 'queue', 'interrupt' or 'reject'");
}

/** @throws GatewayError `INVALID_REQUEST` */
export function readOnLeave(
  onLeave: ConversationOptions['onLeave'] = 'continue',
): ConversationOptions['onLeave'] {
  if (onLeave === 'continue' || onLeave === 'abort') return onLeave;
  throw fieldError('onLeave', "must be 'continue' or 'abort'");
}

/** Milliseconds for which a run waits for the results of its caller's tools. @throws GatewayError `INVALID_REQUEST` */
export function readToolWait(toolWaitMs = 10 * 60_000): number {
  if (toolWaitMs > 0 && toolWaitMs <= 0x7fffffff) return toolWaitMs;
  throw fieldError('toolWaitMs', 'must be milliseconds, 24 days at most');
}

/** The prefix of a door's paths. @throws GatewayError `INVALID_REQUEST` */
export function readPrefix(name: string, prefix: unknown = '/v1'): string {
  if (typeof prefix === 'string' && /^(?:\/[A-Za-z0-9_.-]+)*$/.test(prefix)) return prefix;
  throw fieldError(name, "must be like '/v1', or empty");
}

/** The path of a door. @throws GatewayError `INVALID_REQUEST` */
export function readPath(path: unknown, example: string): string {
  if (typeof path === 'string' && /^(?:\/[A-Za-z0-9_.-]+)+$/.test(path)) return path;
  throw fieldError('path', `must be like '${example}'`);
}

/** An app that an option names. @throws GatewayError `INVALID_REQUEST` if there is none of this name */
export function readApp(apps: readonly AppSummary[], name: string, field: string): AppSummary {
  const app = apps.find((each) => each.name === name);
  if (app) return app;
  throw fieldError(field, `there is no app ${JSON.stringify(name)}`);
}
