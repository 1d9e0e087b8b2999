import type { UiStreamOptions } from '../../../shared/ui-stream/options.js';
import type { RouteOptions } from '../../transports/http/plugin-route.js';
import type { GatewayPlugin } from '../plugin.js';
import { ERROR_HEADER, fieldError, sendUiError } from './errors.js';
import type { PostingOptions } from './posting.js';
import { UiRoutes } from './routes.js';
import { STREAM_HEADERS } from './telling.js';

/** Options of `uiMessageStreamPlugin`. */
export interface UiMessageStreamOptions extends UiStreamOptions, Partial<PostingOptions> {
  /** What the interfaces post to, below the gateway's mount. @default '/api/chat' */
  readonly path?: string;
  /** The app of chats whose id names none. @default the gateway's default app */
  readonly app?: string;
  /** What a message does that comes while another is answered. @default 'queue' */
  readonly onBusy?: PostingOptions['onBusy'];
  /** Whether questions that are open when a user's message comes stay so, or are denied first. @default 'keep' */
  readonly openQuestions?: PostingOptions['openQuestions'];
  /**
   * Whether a conversation that a client already has becomes the beginning of a session that has not begun. A client can invent what the
   * assistant and its tools are said to have answered.
   *
   * @default true
   */
  readonly seed?: boolean;
  /** How long after its end an answer is told again to who resumes, in milliseconds. @default a minute */
  readonly resumeFinishedMs?: number;
}

const RESUME_FINISHED_MS = 60_000;

const ROUTE = {
  methods: ['GET', 'POST'],
  requestHeaders: ['Idempotency-Key', 'User-Agent'],
  exposedHeaders: [...STREAM_HEADERS, ERROR_HEADER],
  fail: sendUiError,
} satisfies RouteOptions;

/**
 * Serves the gateway's sessions to interfaces of the AI SDK as they are: `useChat` with its own `DefaultChatTransport`, and what is built on it.
 *
 * @throws GatewayError `INVALID_REQUEST` for an option that is wrong; from `gateway.use` for an app that there is not
 *
 * @example
 * ```ts
 * gateway.use(uiMessageStreamPlugin({ path: '/api/chat' }));
 * ```
 */
export function uiMessageStreamPlugin(options: UiMessageStreamOptions = {}): GatewayPlugin {
  const { path = '/api/chat', app, resumeFinishedMs = RESUME_FINISHED_MS, version = 6 } = options;
  const { onBusy = 'queue', openQuestions = 'keep', seed = true } = options;
  if (typeof path !== 'string' || !/^(?:\/[A-Za-z0-9_.-]+)+$/.test(path))
    throw fieldError('path', "must be like '/api/chat'");
  if (!(resumeFinishedMs >= 0)) throw fieldError('resumeFinishedMs', 'must be milliseconds, 0 or more');
  if (![5, 6, 7].includes(version)) throw fieldError('version', 'must be 5, 6 or 7');
  if (!['queue', 'interrupt', 'reject'].includes(onBusy))
    throw fieldError('onBusy', "must be 'queue', 'interrupt' or 'reject'");
  if (openQuestions !== 'keep' && openQuestions !== 'deny')
    throw fieldError('openQuestions', "must be 'keep' or 'deny'");
  return {
    name: 'ui-message-stream',
    setup(context) {
      if (app !== undefined && !context.apps().some(({ name }) => name === app))
        throw fieldError('app', `there is no app ${JSON.stringify(app)}`);
      const posting = { onBusy, openQuestions, seed };
      const routes = new UiRoutes(context, { path, app, resumeFinishedMs, posting, stream: options });
      context.route(path, (call) => routes.serve(call), ROUTE);
    },
  };
}
