import { createHash } from 'node:crypto';
import { fieldError } from '../../shared/errors.js';
import type { Choices } from '../apps/application.js';
import { givenId } from '../ids.js';
import { LimitError } from '../limit-error.js';
import type { RunScope } from './run-scope.js';

/** Most characters of a name or a choice, which are labels of metrics. */
const MOST = 64;

/**
 * The variant of a session: the one that it has, or that its key decides.
 *
 * @throws GatewayError `INVALID_PARAMS`; `QUOTA_EXCEEDED` beyond `limits.variantsPerSession`
 */
export function variantOf<Choice extends string>(
  scope: RunScope,
  name: string,
  given: Choices<Choice>,
): Choice {
  givenId(name, 'name', MOST);
  const weights = weightsOf<Choice>(given);
  const { run, port, runId } = scope;
  const { state, ref } = port.log.view;
  const known = run.variants[name] ?? state.variants?.[name];
  const has = weights.some(([choice]) => choice === known);
  const choice = has ? (known as Choice) : drawn(weights, [ref.scope, ref.app, ref.name, name]);
  if (scope.ended) return choice;
  const names = new Set([...Object.keys(state.variants ?? {}), ...Object.keys(run.variants), name]);
  const { variantsPerSession: most } = port.setting;
  if (names.size > most)
    throw new LimitError('limits.variantsPerSession', {
      code: 'QUOTA_EXCEEDED',
      message: `A session has at most ${most} variants (limits.variantsPerSession)`,
    });
  run.variants = { ...run.variants, [name]: choice };
  if (!has) port.log.append({ type: 'variant', runId, ts: Date.now(), name, choice });
  return choice;
}

/** Choices with their weights. @throws GatewayError `INVALID_PARAMS` */
function weightsOf<Choice extends string>(given: Choices<Choice>): readonly (readonly [Choice, number])[] {
  const weights = (
    Array.isArray(given) ? given.map((choice) => [choice, 1]) : Object.entries<number>(given as never)
  ) as [Choice, number][];
  const isWeight = (weight: unknown): boolean => Number.isFinite(weight) && (weight as number) >= 0;
  for (const [choice, weight] of weights) {
    givenId(choice, 'choices', MOST);
    if (!isWeight(weight)) throw fieldError(`choices.${choice}`, 'must be a number, 0 or more');
  }
  if (!weights.some(([, weight]) => weight > 0))
    throw fieldError('choices', 'must have one that may be chosen');
  return weights;
}

/** The choice of a session. All of its runs come to the same one, wherever they run. */
function drawn<Choice>(weights: readonly (readonly [Choice, number])[], key: readonly string[]): Choice {
  const digest = createHash('sha256').update(JSON.stringify(key)).digest();
  const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
  const possible = weights.filter(([, weight]) => weight > 0);
  let left = (digest.readUIntBE(0, 6) / 2 ** 48) * total;
  for (const [choice, weight] of possible) {
    left -= weight;
    if (left < 0) return choice;
  }
  return possible.at(-1)![0];
}
