import { fieldError } from '../../shared/errors.js';
import type { MessageInput, SendInput } from '../../shared/messages.js';
import type { SendParams } from '../../shared/operation-types.js';
import type { ClientMessages } from '../config/access.js';
import { refusedField } from '../limit-error.js';

/**
 * Checks the roles and times of a client's messages, because they become part of the history that the app answers.
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
      const problem = `clients may not write messages of the role ${message.role}`;
      throw refusedField('clientMessages.roles', 'message.role', problem);
    }
    if (message.createdAt !== undefined && !createdAt) {
      const problem = 'clients may not say when a message was written';
      throw refusedField('clientMessages.createdAt', 'message.createdAt', problem);
    }
  }
}

/** @throws GatewayError `INVALID_PARAMS` naming the limit */
export function checkToolCount(given: ClientParts, most: number): void {
  for (const field of ['clientTools', 'toolOutputs'] as const) {
    const { length = 0 } = given[field] ?? {};
    if (length > most)
      throw fieldError(field, `must have at most ${most} tools (limits.clientToolsPerSend), not ${length}`);
  }
}

/** The options that allow what a client brings with a message. */
const OPTIONS = { clientTools: 'tools', parameters: 'parameters', toolOutputs: 'toolOutputs' } as const;

/** The tools, outputs of tools and parameters that a client brings with a message. */
export type ClientParts = Pick<SendParams, keyof typeof OPTIONS>;

/**
 * Checks that a client may bring tools, outputs or parameters with a message.
 *
 * @throws GatewayError `INVALID_PARAMS` naming the field and the option that would allow it
 */
export function checkBrought(
  field: keyof ClientParts,
  names: readonly string[],
  allowed: boolean | readonly string[],
): void {
  const option = `clientMessages.${OPTIONS[field]}`;
  if (allowed === true) return;
  if (allowed === false) throw refusedField(option, field, 'clients may not bring this');
  for (const [index, name] of names.entries()) {
    if (allowed.includes(name)) continue;
    const path = field === 'parameters' ? `${field}.${name}` : `${field}.${index}.name`;
    throw refusedField(option, path, `clients may not bring ${JSON.stringify(name)}`);
  }
}
