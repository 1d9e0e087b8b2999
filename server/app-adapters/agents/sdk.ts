import { GatewayError } from '../../../shared/errors.js';
import { loadPeer } from '../../runtime/optional-peer.js';
import { upstreamFailed } from '../upstream-failed.js';

export type Sdk = typeof import('@openai/agents');

/** @throws GatewayError `INTERNAL` naming the package to install */
export const loadSdk = (): Promise<Sdk> =>
  loadPeer('@openai/agents', 'agentsApp', () => import('@openai/agents'), ['zod']);

/** How an error of a run looks to clients: a guardrail's refusal, a mistake of the app, or a failure of what it calls. */
export function runFailure(error: unknown): unknown {
  const kinds = kindsOf(error);
  if (kinds.includes('ToolCallError')) return runFailure((error as { error?: unknown }).error);
  if (kinds.some((kind) => kind.endsWith('TripwireTriggered'))) {
    const message = 'A guardrail of the agent refused this';
    return new GatewayError({ code: 'GUARD_DENIED', guardType: 'custom', message });
  }
  const upstream = kinds.includes('ModelBehaviorError') || kinds.includes('SystemError');
  return kinds.includes('AgentsError') && !upstream ? error : upstreamFailed(error);
}

/** Whether the SDK blames the model. */
export function isModelMistake(error: unknown): boolean {
  return kindsOf(error).includes('ModelBehaviorError');
}

/** Names of an error's classes. By name, because the host's agents may come from another copy of the SDK: a CommonJS host's do. */
function kindsOf(error: unknown): string[] {
  const kinds: string[] = [];
  for (let at: unknown = error; typeof at === 'object' && at !== null; at = Object.getPrototypeOf(at))
    kinds.push((at as object).constructor?.name ?? '');
  return kinds;
}
