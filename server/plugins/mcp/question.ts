import { isPlainObject } from '../../schema/schema.js';
import type { CallToolOptions } from '../plugin.js';
import type { ClientCapabilities, ElicitParams } from './sdk.js';

/** A confirmation that a call waits for. */
export type Question = Parameters<NonNullable<CallToolOptions['asked']>>[0];

/** What a person said to it. */
export interface Said {
  readonly approved: boolean;
  readonly reason?: string;
}

/** Characters of a call's input that a person is shown. */
const SHOWN = 4000;

/** Whether a client shows forms to its person. One that names no kind of elicitation knows forms alone. */
export function canAsk(capabilities: ClientCapabilities | undefined): boolean {
  const asks = capabilities?.elicitation;
  return asks !== undefined && (asks.form !== undefined || asks.url === undefined);
}

/** The form that puts the question. */
export function formOf({ name, input, message = `Allow ${name}?` }: Question): ElicitParams {
  const json = JSON.stringify(input) ?? '';
  const shown = json.length > SHOWN ? `${json.slice(0, SHOWN)}…` : json;
  return {
    mode: 'form',
    message: `${message}\n\n${name} ${shown}`,
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

/** What a filled-in form says: only a plain yes is one. Undefined for what is no answer to a form. */
export function readForm(form: unknown): Said | undefined {
  if (!isPlainObject(form)) return undefined;
  const { action, content } = form;
  if (action === 'decline') return { approved: false, reason: 'declined' };
  if (action === 'cancel') return { approved: false, reason: 'cancelled' };
  if (action !== 'accept') return undefined;
  const { approve, reason } = isPlainObject(content) ? content : {};
  const said = typeof reason === 'string' && reason !== '' && { reason };
  return { approved: approve === true, ...said };
}
