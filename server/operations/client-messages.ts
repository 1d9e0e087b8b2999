import { GatewayError } from '../../shared/errors.js';
import type { MessageInput, SendInput } from '../../shared/messages.js';
import type { SendParams } from '../../shared/operation-types.js';
import type { ClientMessages } from '../config/access.js';

/**
 * Checks what messages of a client say of themselves: they become part of the history that the app answers.
 *
 * @throws GatewayError `INVALID_PARAMS` naming the field and the option that would allow it
 */
export function checkClientMessages(
  inputs: readonly SendInput[],
  { roles = ['user'], createdAt = false }: ClientMessages,
): void {
  for (const input of inputs) {
    if (typeof input === 'string' || Array.isArray(input)) continue;
    const message = input as MessageInput;
    if (message.role !== undefined && !roles.includes(message.role)) {
      throw refusal(
        'message.role',
        `clients may not write messages of the role ${message.role}; clientMessages.roles allows it`,
      );
    }
    if (message.createdAt !== undefined && !createdAt) {
      throw refusal(
        'message.createdAt',
        'clients may not say when a message was written; clientMessages.createdAt allows it',
      );
    }
  }
}

/** @throws GatewayError `INVALID_PARAMS` naming the limit */
export function checkToolCount({ clientTools = [] }: Brought, most: number): void {
  if (clientTools.length > most)
    throw refusal('clientTools', `at most ${most} (limits.clientToolsPerSend), not ${clientTools.length}`);
}

/** What a client brings with a message. */
export type Brought = Pick<SendParams, 'clientTools' | 'parameters'>;

/**
 * Checks what a client brings with a message against what it may bring.
 *
 * @throws GatewayError `INVALID_PARAMS` naming the field and the option that would allow it
 */
export function checkBrought(
  field: keyof Brought,
  names: readonly string[],
  allowed: boolean | readonly string[],
): void {
  const option = field === 'clientTools' ? 'clientMessages.tools' : 'clientMessages.parameters';
  if (allowed === true) return;
  if (allowed === false) throw refusal(field, `clients may not bring any; ${option} allows it`);
  for (const [index, name] of names.entries()) {
    if (allowed.includes(name)) continue;
    const path = field === 'clientTools' ? `${field}.${index}.name` : `${field}.${name}`;
    throw refusal(path, `clients may not bring ${JSON.stringify(name)}; ${option} allows it`);
  }
}

function refusal(path: string, message: string): GatewayError {
  return new GatewayError({
    code: 'INVALID_PARAMS',
    message: `${path}: ${message}`,
    details: [{ path, message }],
  });
}
