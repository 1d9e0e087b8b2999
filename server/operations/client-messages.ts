import { GatewayError } from '../../shared/errors.js';
import type { MessageInput, SendInput } from '../../shared/messages.js';
import type { ClientMessages } from './environment.js';

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
        'role',
        `clients may not write messages of the role ${message.role}; clientMessages.roles allows it`,
      );
    }
    if (message.createdAt !== undefined && !createdAt) {
      throw refusal(
        'createdAt',
        'clients may not say when a message was written; clientMessages.createdAt allows it',
      );
    }
  }
}

function refusal(field: string, message: string): GatewayError {
  const path = `message.${field}`;
  return new GatewayError({
    code: 'INVALID_PARAMS',
    message: `${path}: ${message}`,
    details: [{ path, message }],
  });
}
