import { cut } from '../../../shared/cut.js';
import { isPlainObject } from '../../schema/schema.js';
import type { CallToolOptions } from '../plugin.js';
import type { ClientCapabilities, ElicitParams, UrlElicitParams } from './sdk.js';

/** A confirmation that a call waits for. */
export type McpQuestion = Parameters<NonNullable<CallToolOptions['asked']>>[0];

/** A person's answer to a confirmation. */
export interface ConfirmReply {
  readonly approved: boolean;
  readonly reason?: string;
}

/** The way in which a client asks its person: in its own form, or at an address that it opens. */
export type QuestionMode = 'form' | 'url';

/** The outcome of a question that a client asked: an answer, or the notice that it is given at the address. */
export type Heard = ConfirmReply | 'elsewhere';

/** The number of characters of a call's input that a person sees. */
const SHOWN = 4000;

/**
 * The way in which a client can ask its person; null if it cannot. A client that names no kind of elicitation knows only forms.
 *
 * @param hasUrl Whether there is an address to ask at. It is preferred to forms, since the gateway then knows the person who answers
 */
export function askingOf(capabilities: ClientCapabilities | undefined, hasUrl: boolean): QuestionMode | null {
  const asks = capabilities?.elicitation;
  if (asks === undefined) return null;
  if (asks.url !== undefined && hasUrl) return 'url';
  return asks.form !== undefined || asks.url === undefined ? 'form' : null;
}

/** A request to open the address where the question is answered. */
export function linkOf({ callId, message, name }: McpQuestion, url: string): UrlElicitParams {
  return { mode: 'url', elicitationId: callId, message: message ?? `Allow ${name}?`, url };
}

/** The form that asks the question. */
export function formOf({ name, input, message = `Allow ${name}?`, policy }: McpQuestion): ElicitParams {
  const json = JSON.stringify(input) ?? '';
  const shown = cut(json, SHOWN, '…');
  return {
    mode: 'form',
    message: `${message}\n\n${name} ${shown}${policy ? termsOf(policy) : ''}`,
    requestedSchema: {
      type: 'object',
      properties: {
        approve: { type: 'boolean', title: 'Allow' },
        reason: { type: 'string', title: 'Reason', description: 'Told to the model', maxLength: 1000 },
      },
      required: ['approve'],
    },
  };
}

/** The policy in words, for the person who answers. */
function termsOf({ roles, approvals, expiresAt, onExpiry }: NonNullable<McpQuestion['policy']>): string {
  const terms = [
    roles && `For ${roles.join(', ')}.`,
    approvals > 1 && `${approvals} people have to allow it.`,
    expiresAt !== undefined && `Until ${new Date(expiresAt).toISOString()}, then: ${onExpiry}.`,
  ].filter((term) => typeof term === 'string');
  return terms.length > 0 ? `\n\n${terms.join(' ')}` : '';
}

/** Reads a client's answer. In a form only a plain yes approves. Undefined if it is no answer. */
export function readAnswer(form: unknown, asking: QuestionMode): Heard | undefined {
  if (!isPlainObject(form)) return undefined;
  const { action, content } = form;
  if (action === 'decline') return { approved: false, reason: 'declined' };
  if (action === 'cancel') return { approved: false, reason: 'cancelled' };
  if (action !== 'accept') return undefined;
  // A person who opens the address has not answered yet.
  if (asking === 'url') return 'elsewhere';
  const { approve, reason } = isPlainObject(content) ? content : {};
  const said = typeof reason === 'string' && reason !== '' && { reason };
  return { approved: approve === true, ...said };
}
