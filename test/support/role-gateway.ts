import type { GatewayConfig, MethodTree } from '../../server/index.js';
import { echo } from './apps.js';
import { post, startGateway } from './gateway.js';
import { as } from './users.js';

const roleAuth = {
  type: 'custom',
  cookies: false,
  validate: async (token: string | undefined) => ({ valid: token !== undefined, user: { id: token ?? '' } }),
  hydrateUser: async ({ user }: { user: { id: string } }) => ({
    id: user.id,
    tenantId: 'acme',
    roles: user.id === 'root' ? ['admin', 'user'] : ['user'],
    email: `${user.id}@acme.test`,
    plan: 'gold',
  }),
} as const;

/** A gateway whose users have roles: `root` is an admin. */
export async function gatewayOf(methods: MethodTree, config: Pick<GatewayConfig, 'limits'> = {}) {
  const started = await startGateway({ app: echo, auth: roleAuth, methods, ...config });
  const invoke = (body: Record<string, unknown>, user = 'alice', headers = {}) =>
    post(`${started.url}/invoke`, body, { ...as(user), ...headers });
  return { ...started, invoke };
}
