import { cut } from '../../shared/cut.js';
import { fieldError } from '../../shared/errors.js';
import type { EventDraft, SessionChanges } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { Limits } from '../config/limits.js';
import { LimitError } from '../limit-error.js';

/** @throws GatewayError `INVALID_PARAMS` for a title that is too long, `PAYLOAD_TOO_LARGE` for metadata; both name the limit */
export function checkChanges(
  { title, metadata }: SessionChanges,
  { titleLength, metadataBytes }: Pick<Limits, 'titleLength' | 'metadataBytes'>,
): void {
  if (title && title.length > titleLength) {
    throw fieldError(
      'title',
      `must have at most ${titleLength} characters (limits.titleLength), not ${title.length}`,
    );
  }
  const bytes = metadata ? Buffer.byteLength(JSON.stringify(metadata)) : 0;
  if (bytes > metadataBytes) {
    throw new LimitError('limits.metadataBytes', {
      code: 'PAYLOAD_TOO_LARGE',
      message: `metadata: must have at most ${metadataBytes} bytes of JSON (limits.metadataBytes), not ${bytes}`,
    });
  }
}

/** The event for those changes that the session does not have already. Empty if there are none. */
export function updateDrafts(
  state: SessionState,
  { title, metadata, archived }: SessionChanges,
  from: { readonly by: string } | { readonly runId: string },
): readonly EventDraft[] {
  const { title: oldTitle = null, metadata: oldMetadata = null, archived: wasArchived = false } = state;
  const changes: SessionChanges = {
    ...(title !== undefined && title !== oldTitle && { title }),
    ...(metadata !== undefined && !isSameJson(metadata, oldMetadata) && { metadata }),
    ...(archived !== undefined && archived !== wasArchived && { archived }),
  };
  if (Object.keys(changes).length === 0) return [];
  return [{ type: 'session_updated', ts: Date.now(), ...changes, ...from }];
}

function isSameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** A title in one line, cut to a length in characters. */
export function fittingTitle(text: string, length: number): string {
  return cut(text.replace(/\s+/gu, ' ').trim(), length).trim();
}
