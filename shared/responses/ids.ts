import { composeId, partsOfId } from '../composed-id.js';
import { formatSegment, parseSegment, type SegmentName } from '../segments.js';

const RESPONSE = 'resp_';

/** Writes the id of a response. The id names its segment, so that the response is found without an index. */
export function responseId(name: SegmentName): string {
  return `${RESPONSE}${formatSegment(name)}`;
}

/** Reads the id of a response; null if it is not one of ours. */
export function parseResponseId(id: string): SegmentName | null {
  return id.startsWith(RESPONSE) ? parseSegment(id.slice(RESPONSE.length)) : null;
}

/** A run, as ids name it. */
export interface IdentifiedRun {
  /** Canonical key. */
  readonly sessionId: string;
  readonly runId: string;
}

/** The kind of an item. */
export type ItemKind = 'msg' | 'rs' | 'fc' | 'ctc' | 'mcp' | 'mcpr';

/** Writes the id of an item. @param part The item's part of the run: the index of a block, or the id of a call */
export function itemId(kind: ItemKind, { sessionId, runId }: IdentifiedRun, part: number | string): string {
  return `${kind}_${composeId(sessionId, runId, part)}`;
}

/** Reads the id of an item; null if it is not one of ours. */
export function parseItemId(
  id: string,
): (IdentifiedRun & { readonly kind: ItemKind; readonly part: string }) | null {
  const [, kind, rest = ''] = /^(msg|rs|fc|ctc|mcp|mcpr)_(.*)$/.exec(id) ?? [];
  const [sessionId = '', runId = '', part = '', ...more] = partsOfId(rest) ?? [];
  if (sessionId === '' || runId === '' || part === '' || more.length > 0) return null;
  return { kind: kind as ItemKind, sessionId, runId, part };
}

const COMPACTION = 'cmp_';

/** Writes the id of a compaction, which names the end of what it covers. */
export const compactionId = ({
  sessionId,
  tip,
}: {
  readonly sessionId: string;
  readonly tip: string;
}): string => `${COMPACTION}${composeId(sessionId, tip)}`;

/** Reads the id of a compaction; null if it is not one of ours. */
export function parseCompactionId(id: string): { readonly sessionId: string; readonly tip: string } | null {
  const [sessionId = '', tip = '', ...more] =
    (id.startsWith(COMPACTION) && partsOfId(id.slice(COMPACTION.length))) || [];
  return sessionId === '' || tip === '' || more.length > 0 ? null : { sessionId, tip };
}

/** Writes the id of a call for its client, which brings it back with the result. The id names the waiting run. */
export function clientCallId(callId: string, { sessionId, runId }: IdentifiedRun): string {
  return composeId(callId, sessionId, runId);
}

/** Reads the id of a call, which may have been made elsewhere. */
export function parseClientCallId(text: string): {
  readonly callId: string;
  readonly run: IdentifiedRun | null;
} {
  const [callId = '', sessionId = '', runId = '', ...more] = partsOfId(text) ?? [];
  const isOurs = callId !== '' && sessionId !== '' && runId !== '' && more.length === 0;
  return isOurs ? { callId, run: { sessionId, runId } } : { callId: text, run: null };
}
