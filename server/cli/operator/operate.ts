import type { Gateway } from 'agent-session-gateway';

/** The owner of a command's data. */
export interface Whose {
  readonly user?: { readonly id: string; readonly tenantId?: string };
  readonly scope?: string;
}

/** A request of an operator to a gateway. */
export type OperatorRequest =
  | { readonly action: 'backup'; readonly path: string }
  | { readonly action: 'notices'; readonly dead: boolean }
  | { readonly action: 'resend'; readonly id: string }
  | { readonly action: 'dead' }
  | { readonly action: 'retry'; readonly id: string }
  | { readonly action: 'held'; readonly by?: string }
  | (Whose & { readonly action: 'erase'; readonly session?: string; readonly vacuum: boolean })
  | (Whose & { readonly action: 'export'; readonly session: string; readonly what: 'messages' | 'events' });

/** Does an operator's request. Yields the outcome as lines of JSON. @throws GatewayError */
export async function* operate(
  gateway: Gateway<any, any, any>,
  request: OperatorRequest,
): AsyncGenerator<string> {
  switch (request.action) {
    case 'backup':
      return gateway.backup(request.path);
    case 'held': {
      const { by } = request;
      for await (const each of gateway.held(by === undefined ? {} : { by }))
        yield `${JSON.stringify(each)}\n`;
      return;
    }
    case 'notices':
      for await (const each of gateway.failedNotices({ dead: request.dead }))
        yield `${JSON.stringify(each)}\n`;
      return;
    case 'resend':
      return yield `${JSON.stringify({ sent: await gateway.resendNotice(request.id) })}\n`;
    case 'dead':
      for await (const each of gateway.deadWork()) yield `${JSON.stringify(each)}\n`;
      return;
    case 'retry':
      return yield `${JSON.stringify({ retried: await gateway.retryWork(request.id) })}\n`;
    case 'erase': {
      const { session, vacuum, ...about } = request;
      const whose = whoseOf(about);
      const erased = await gateway.erase(session ?? (whose as { readonly scope: string }), {
        ...whose,
        vacuum,
      });
      return yield `${JSON.stringify(erased)}\n`;
    }
    case 'export': {
      const { session, what, ...about } = request;
      return yield* gateway.export(session, { ...whoseOf(about), what });
    }
  }
}

function whoseOf({ user, scope }: Whose): Whose {
  return { ...(user && { user }), ...(scope !== undefined && { scope }) };
}
