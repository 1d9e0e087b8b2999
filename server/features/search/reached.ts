import { isGatewayError } from '../../../shared/errors.js';
import type { Person } from '../../auth/types.js';
import type { FoundGrant, Grants } from '../../grants/grants.js';
import type { Access } from '../../operations/access.js';
import type { Reach } from '../../operations/reach.js';
import { keyOf } from '../../stores/ref-key.js';
import type { SaidHit, SaidWithin } from '../../stores/said.js';

/** Grants of a person that a search looks at, the first in the store's order. */
const GRANTS = 200;

interface ReachEnvironment {
  readonly access: Pick<Access, 'session' | 'shared' | 'mayUse'>;
  readonly grants: Pick<Grants, 'find' | 'ofUser'>;
  readonly apps: { format(app: string, name: string): string };
}

/** The places that a search looks in, and the caller's way to a session in which something was found. */
export interface Reachable {
  readonly within: readonly SaidWithin[];
  /** Null if the caller may not see it now. */
  reach(hit: Pick<SaidHit, 'ref' | 'epoch'>): Promise<Reach | null>;
}

/** All sessions that a person may see, of its own scope and by grants. */
export async function allOf(
  env: ReachEnvironment,
  person: Person,
  app: string | undefined,
): Promise<Reachable> {
  const granted = new Map<string, FoundGrant[]>();
  for (const grant of await grantsOf(env.grants, person)) {
    const { home, epoch } = grant;
    if ((app !== undefined && home.app !== app) || (!person.link && home.scope === person.scope)) continue;
    const key = `${epoch} ${keyOf(home)}`;
    granted.set(key, [...(granted.get(key) ?? []), grant]);
  }
  const own = person.link ? [] : [{ scope: person.scope, ...(app !== undefined && { app }) }];
  const logs = [...granted.values()].map(([grant]) => ({ ...grant!.home, epoch: grant!.epoch }));
  const known = new Map<string, Promise<Reach | null>>();

  const find = async ({ ref, epoch }: Pick<SaidHit, 'ref' | 'epoch'>, key: string): Promise<Reach | null> => {
    const isOwn = !person.link && ref.scope === person.scope;
    try {
      if (isOwn) return await env.access.session(env.apps.format(ref.app, ref.name), 'search', person);
      if (!(await env.access.mayUse(ref.app, person))) return null;
      for (const grant of granted.get(key) ?? []) {
        const reach = await env.access.shared(grant, 'search', person);
        if (reach?.via?.epoch === epoch) return reach;
      }
    } catch (error) {
      // The app is gone, or the session since then. A store that cannot answer is another matter.
      if (!isGatewayError(error) || error.code === 'OVERLOADED') throw error;
    }
    return null;
  };
  return {
    within: [...logs, ...own],
    reach(hit) {
      const key = `${hit.epoch} ${keyOf(hit.ref)}`;
      const reach = known.get(key) ?? find(hit, key);
      known.set(key, reach);
      return reach;
    },
  };
}

async function grantsOf(
  grants: ReachEnvironment['grants'],
  { key, link }: Person,
): Promise<readonly FoundGrant[]> {
  if (link) {
    const grant = await grants.find(link.grantId);
    return grant ? [grant] : [];
  }
  return (await grants.ofUser(key, GRANTS, null)).grants;
}

/** One session that a caller has reached. */
export const oneOf = (reach: Reach, epoch: string): Reachable => ({
  within: [{ ...reach.ref, epoch }],
  reach: async () => reach,
});
