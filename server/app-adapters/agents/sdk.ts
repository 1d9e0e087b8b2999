import { GatewayError } from '../../../shared/errors.js';
import { upstreamError } from '../upstream.js';

export type Sdk = typeof import('@openai/agents');

/** @throws GatewayError `INVALID_REQUEST` naming the package to install */
export async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@openai/agents');
  } catch (cause) {
    throw new GatewayError({
      code: 'INVALID_REQUEST',
      message: 'agentsApp needs the package @openai/agents: npm install @openai/agents zod',
      cause,
    });
  }
}

/** How an error of a run looks to clients: a guardrail's refusal, a mistake of the app, or a failure of what it calls. */
export function runFailure(sdk: Sdk, error: unknown): unknown {
  if (error instanceof sdk.ToolCallError) return runFailure(sdk, error.error);
  const guardrails = [
    sdk.InputGuardrailTripwireTriggered,
    sdk.OutputGuardrailTripwireTriggered,
    sdk.ToolInputGuardrailTripwireTriggered,
    sdk.ToolOutputGuardrailTripwireTriggered,
  ];
  if (guardrails.some((tripwire) => error instanceof tripwire)) {
    const message = 'A guardrail of the agent refused this';
    return new GatewayError({ code: 'GUARD_DENIED', guardType: 'custom', message });
  }
  const upstream = error instanceof sdk.ModelBehaviorError || error instanceof sdk.SystemError;
  return error instanceof sdk.AgentsError && !upstream ? error : upstreamError(error);
}
