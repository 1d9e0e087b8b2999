import type { DeskQuestion, Gateway } from 'agent-session-gateway';

/** The owner of a command's data. */
export interface Whose {
  readonly user?: { readonly id: string; readonly tenantId?: string };
  readonly scope?: string;
}

/** The one who acts, for the audit: nobody else may write to the operators' socket. */
const BY = { by: 'operator' };

/** A request of an operator to a gateway. */
export type OperatorRequest =
  | { readonly action: 'backup'; readonly path: string }
  | { readonly action: 'notices'; readonly dead: boolean }
  | { readonly action: 'resend'; readonly id: string }
  | DeskQuestion
  | { readonly action: 'held'; readonly by?: string }
  | { readonly action: 'held-runs'; readonly apps?: readonly string[] }
  | { readonly action: 'unfinished'; readonly apps: readonly string[] }
  | (Whose & { readonly action: 'erase'; readonly session?: string; readonly vacuum: boolean })
  | (Whose & { readonly action: 'export'; readonly session: string; readonly what: 'messages' | 'events' });

/**
 * Does an operator's request. Yields the outcome as lines of JSON.
 *
 * @param visits Whether the gateway only looks into a store that others serve
 * @throws GatewayError
 */
export async function* operate(
  gateway: Gateway<any, any, any>,
  request: OperatorRequest,
  visits = false,
): AsyncGenerator<string> {
  switch (request.action) {
    case 'backup':
      return gateway.backup(request.path, BY);
    case 'held': {
      const { by } = request;
      for await (const each of gateway.held(by === undefined ? {} : { by }))
        yield `${JSON.stringify(each)}\n`;
      return;
    }
    case 'held-runs':
      for await (const each of gateway.deploys.held(request.apps)) yield `${JSON.stringify(each)}\n`;
      return;
    case 'unfinished':
      for await (const each of gateway.deploys.unfinished(request.apps)) yield `${JSON.stringify(each)}\n`;
      return;
    case 'notices':
      for await (const each of gateway.failedNotices({ dead: request.dead }))
        yield `${JSON.stringify(each)}\n`;
      return;
    case 'resend':
      return yield `${JSON.stringify({ sent: await gateway.resendNotice(request.id) })}\n`;
    case 'erase': {
      const { session, vacuum, ...about } = request;
      const whose = whoseOf(about);
      const erased = await gateway.erase(session ?? (whose as { readonly scope: string }), {
        ...whose,
        ...BY,
        vacuum,
      });
      return yield `${JSON.stringify(erased)}\n`;
    }
    case 'export': {
      const { session, what, ...about } = request;
      return yield* gateway.export(session, { ...whoseOf(about), ...BY, what });
    }
    default:
      for await (const row of gateway.desk(request, { elsewhere: visits })) yield `${JSON.stringify(row)}\n`;
  }
}

function whoseOf({ user, scope }: Whose): Whose {
  return { ...(user && { user }), ...(scope !== undefined && { scope }) };
}
