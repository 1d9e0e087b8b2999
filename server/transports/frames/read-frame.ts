import { GatewayError } from '../../../shared/errors.js';
import type { ClientFrame } from '../../../shared/frames.js';
import { clientFrameSchema } from '../../../shared/schemas/frames.js';
import { check } from '../../schema/validate.js';
import { parseJson } from '../json.js';

/** A frame that cannot be read. `id` is the request it belongs to, where that much is clear. */
export class FrameFault extends GatewayError {
  readonly id: string | undefined;

  constructor(message: string, details: unknown, id?: string) {
    super({ code: 'INVALID_REQUEST', message, details });
    this.id = id;
  }
}

/** Reads a client's frame. @throws GatewayError `INVALID_REQUEST`, as a `FrameFault` where it is JSON */
export function readFrame(text: string, maxDepth: number): ClientFrame {
  const raw = parseJson(text, maxDepth);
  const outcome = check(clientFrameSchema, raw);
  if ('value' in outcome) return outcome.value as ClientFrame;
  const { issues } = outcome as {
    readonly issues: readonly { readonly path: string; readonly message: string }[];
  };
  const told = issues.map(({ path, message }) => `${path}: ${message}`).join('; ');
  throw new FrameFault(`The frame is malformed: ${told}`, issues, requestId(raw));
}

function requestId(raw: unknown): string | undefined {
  const { type, id } = (raw ?? {}) as { readonly type?: unknown; readonly id?: unknown };
  return type === 'req' && typeof id === 'string' && id !== '' && id.length <= 256 ? id : undefined;
}
