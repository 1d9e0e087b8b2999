import type { UserContext } from '../../shared/contract.js';
import { GatewayError } from '../../shared/errors.js';
import type { Message } from '../../shared/messages.js';
import type { Application } from '../apps/application.js';
import type { Guard } from '../apps/guard.js';
import { type GuardListener, GuardPolicy } from './policy.js';

/** The guards of a gateway's apps. */
export class Guards {
  readonly #ofGateway: Guard | undefined;
  readonly #listener: GuardListener;
  readonly #known = new WeakMap<Guard, GuardPolicy>();
  readonly #common: GuardPolicy | null;

  /** @param ofGateway The guard of all apps */
  constructor(ofGateway: Guard | undefined, listener: GuardListener) {
    this.#ofGateway = ofGateway;
    this.#listener = listener;
    this.#common = ofGateway ? new GuardPolicy([ofGateway], listener) : null;
  }

  /** The guards of an app; null if it has none. */
  of({ guard }: Pick<Application, 'guard'>): GuardPolicy | null {
    if (!guard) return this.#common;
    let policy = this.#known.get(guard);
    if (!policy) {
      policy = new GuardPolicy(this.#ofGateway ? [this.#ofGateway, guard] : [guard], this.#listener);
      this.#known.set(guard, policy);
    }
    return policy;
  }
}

/** A value that was checked, or the end that it is. */
export type JudgedValue = { readonly value: unknown } | { readonly end: string };

/** Checks a value by its JSON. One that nobody changes is the same object. */
export async function judgeValue(
  policy: GuardPolicy,
  value: unknown,
  about: Omit<Parameters<GuardPolicy['judge']>[1], 'soFar' | 'value'>,
): Promise<JudgedValue> {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text === undefined) return { value };
  const judged = await policy.judge(text, { ...about, soFar: '', value });
  if ('end' in judged) return judged;
  if (judged.text === text) return { value };
  return { value: typeof value === 'string' ? judged.text : parsed(judged.text) };
}

/** The value that a check has put in place of another. Text that is no JSON is a text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Content that is bytes or names them, of which a check would read nothing. */
const BYTES: ReadonlySet<string> = new Set(['image', 'audio', 'file']);

/**
 * Checks what a person says, block by block.
 *
 * @throws GatewayError `MODERATED`
 */
export async function judgeMessage(
  policy: GuardPolicy,
  message: Message,
  user: UserContext | null,
): Promise<Message> {
  const content = await Promise.all(
    message.content.map(async (block) => {
      if (BYTES.has(block.type)) return block;
      const said = 'text' in block && typeof block.text === 'string' ? block.text : null;
      const judged = await judgeValue(policy, said ?? block, { kind: 'message', run: null, user });
      if ('end' in judged) throw moderated(judged.end);
      return said === null ? judged.value : { ...block, text: judged.value };
    }),
  );
  return { ...message, content: content as Message['content'] };
}

/** The refusal of what a person says. */
export const moderated = (message: string): GatewayError =>
  new GatewayError({ code: 'MODERATED', ...(message !== '' && { message }) });
