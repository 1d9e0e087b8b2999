import { createRequire } from 'node:module';
import { GatewayError } from '../../../shared/errors.js';
import { loadPeer } from '../../runtime/optional-peer.js';
import { upstreamFailed } from '../upstream-failed.js';

export type Sdk = typeof import('@openai/agents');

/** @throws GatewayError `INTERNAL` naming the package to install */
export const loadSdk = (): Promise<Sdk> =>
  loadPeer('@openai/agents', 'agentsApp', () => import('@openai/agents'), ['zod']);

/** The copy of the SDK that an agent is of. A CommonJS host has one of its own, whose runner takes no other's states. */
export function copyOf(agent: object, sdk: Sdk): Sdk {
  if (agent instanceof sdk.Agent) return sdk;
  try {
    return createRequire(import.meta.url)('@openai/agents') as Sdk;
  } catch {
    return sdk;
  }
}

/** Converts an error of a run for clients: a guardrail's refusal, a mistake of the app, or a failure of a service that it calls. */
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

/** Whether the SDK blames the model for an error. */
export function isModelMistake(error: unknown): boolean {
  return kindsOf(error).includes('ModelBehaviorError');
}

/** Names of an error's classes. Compare names, because the host's agents may use another copy of the SDK, as those of a CommonJS host do. */
function kindsOf(error: unknown): string[] {
  const kinds: string[] = [];
  for (let at: unknown = error; typeof at === 'object' && at !== null; at = Object.getPrototypeOf(at))
    kinds.push((at as object).constructor?.name ?? '');
  return kinds;
}
