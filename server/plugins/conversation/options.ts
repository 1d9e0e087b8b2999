import type { OnBusy } from '../../../shared/events.js';
import { fieldError } from './errors.js';

/** How requests are met. */
export interface ConversationOptions {
  /** The effect of a message that comes while another is answered. @default 'queue' */
  readonly onBusy: Exclude<OnBusy, 'steer'>;
  /** Whether questions that are open when a user's message comes stay so, or are denied first. @default 'keep' */
  readonly openQuestions: 'keep' | 'deny';
  /**
   * Whether a conversation that a client already has becomes the beginning of a session that has not begun. A client can invent what the
   * assistant and its tools are said to have answered.
   *
   * @default true
   */
  readonly seed: boolean;
}

/** Options of a door, where they are given. @throws GatewayError `INVALID_REQUEST` */
export function readConversationOptions({
  onBusy = 'queue',
  openQuestions = 'keep',
  seed = true,
}: Partial<ConversationOptions>): ConversationOptions {
  if (!['queue', 'interrupt', 'reject'].includes(onBusy))
    throw fieldError('onBusy', "must be 'queue', 'interrupt' or 'reject'");
  if (openQuestions !== 'keep' && openQuestions !== 'deny')
    throw fieldError('openQuestions', "must be 'keep' or 'deny'");
  if (typeof seed !== 'boolean') throw fieldError('seed', 'must be true or false');
  return { onBusy, openQuestions, seed };
}

/** The path of a door. @throws GatewayError `INVALID_REQUEST` */
export function readPath(path: unknown, example: string): string {
  if (typeof path === 'string' && /^(?:\/[A-Za-z0-9_.-]+)+$/.test(path)) return path;
  throw fieldError('path', `must be like '${example}'`);
}
