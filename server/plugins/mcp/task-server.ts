import type { McpSdk, McpServer, ServerContext } from './sdk.js';

type Handler =
  Parameters<NonNullable<McpServer['fallbackRequestHandler']>> extends [infer Request, unknown]
    ? (request: Request, context: ServerContext) => Promise<Record<string, unknown>>
    : never;

/**
 * The SDK's server, which passes on that a call became a task. The SDK itself takes every result of a call but a question for content, and
 * would add what is missing of that.
 */
export function taskServerOf({ server: { Server } }: McpSdk): McpSdk['server']['Server'] {
  return class extends Server {
    protected override _wrapHandler(method: string, handler: Handler): Handler {
      if (method !== 'tools/call') return super._wrapHandler(method, handler);
      return async (request, context) => {
        let task: Awaited<ReturnType<Handler>> | null = null;
        const wrapped = super._wrapHandler(method, async (asked, of) => {
          const result = await handler(asked, of);
          if (result.resultType !== 'task') return result;
          task = result;
          return { content: [] };
        });
        const result = await wrapped(request, context);
        return task ?? result;
      };
    }
  };
}
