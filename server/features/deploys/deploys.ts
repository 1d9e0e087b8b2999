import type { Deploys } from '../../host/deploys.js';
import type { FeatureGateway } from '../../operations/feature.js';
import { heldRuns } from './held-runs.js';
import { unfinishedRuns, verdictOn } from './unfinished.js';

/** Makes the operators' access to runs over deploys. */
export function deploysOf({
  config,
  apps,
  ready,
}: Pick<FeatureGateway, 'config' | 'apps' | 'ready'>): Deploys {
  const { store, limits, id: gatewayId } = config;
  const format = (app: string, name: string): string => apps.format(app, name);
  const names = (): readonly string[] => [...apps.entries()].map(([name]) => name);
  return {
    get versions() {
      return Object.fromEntries([...apps.entries()].map(([name, { version }]) => [name, version ?? null]));
    },
    async *held(of = names()) {
      await ready();
      for await (const { ref, ...run } of heldRuns(store, of))
        yield { ...run, sessionId: format(ref.app, ref.name), scope: ref.scope };
    },
    async *unfinished(of = names()) {
      await ready();
      yield* unfinishedRuns({ store, format }, of);
    },
    check: (run) => verdictOn(run, { apps, gatewayId, ms: limits.rehearsalMs }),
  };
}
