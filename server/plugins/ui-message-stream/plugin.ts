import type { UiStreamOptions } from '../../../shared/ui-stream/options.js';
import type { RouteOptions } from '../../transports/http/plugin-route.js';
import { ERROR_HEADER, fieldError, inTerms, sendUiError } from '../conversation/errors.js';
import {
  type ConversationOptions,
  readApp,
  readConversationOptions,
  readPath,
} from '../conversation/options.js';
import type { GatewayPlugin } from '../plugin.js';
import { UiRoutes } from './routes.js';
import { STREAM_HEADERS } from './telling.js';

/** Options of `uiMessageStreamPlugin`. */
export interface UiMessageStreamOptions extends UiStreamOptions, Partial<ConversationOptions> {
  /** The path that the interfaces post to, below the gateway's mount. @default '/api/chat' */
  readonly path?: string;
  /** The app of chats whose id names no app. @default the gateway's default app */
  readonly app?: string;
  /** Milliseconds after its end for which an answer is told again to a client that resumes. @default a minute */
  readonly resumeFinishedMs?: number;
}

const RESUME_FINISHED_MS = 60_000;

/** The page's names for what a request passes on. */
const TERMS = {
  message: 'message',
  messages: 'messages',
  clientTools: 'tools',
  metadata: '',
  idempotencyKey: 'Idempotency-Key',
  sessionId: 'id',
} as const;

const ROUTE = {
  methods: ['GET', 'POST'],
  requestHeaders: ['Idempotency-Key', 'User-Agent'],
  exposedHeaders: [...STREAM_HEADERS, ERROR_HEADER],
  fail: (error, response) => sendUiError(inTerms(TERMS, error), response),
} satisfies RouteOptions;

/**
 * Serves the gateway's sessions to unmodified interfaces of the AI SDK: `useChat` with its own `DefaultChatTransport`, and tools built on
 * it.
 *
 * @throws GatewayError `INVALID_REQUEST` for an invalid option; from `gateway.use` for an unknown app
 *
 * @example
 * ```ts
 * gateway.use(uiMessageStreamPlugin({ path: '/api/chat' }));
 * ```
 */
export function uiMessageStreamPlugin(options: UiMessageStreamOptions = {}): GatewayPlugin {
  const { app, resumeFinishedMs = RESUME_FINISHED_MS, version = 6 } = options;
  const path = readPath(options.path ?? '/api/chat', '/api/chat');
  const conversation = readConversationOptions(options, { openQuestions: 'deny' });
  if (!(resumeFinishedMs >= 0)) throw fieldError('resumeFinishedMs', 'must be milliseconds, 0 or more');
  if (![5, 6, 7].includes(version)) throw fieldError('version', 'must be 5, 6 or 7');
  return {
    name: 'ui-message-stream',
    setup(context) {
      if (app !== undefined) readApp(context.apps(), app, 'app');
      const routes = new UiRoutes(context, { path, app, resumeFinishedMs, conversation, stream: options });
      context.route(path, (call) => routes.serve(call), ROUTE);
    },
  };
}
