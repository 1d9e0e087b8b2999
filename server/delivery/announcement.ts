import type { View } from '../grants/view.js';
import type { ReadableLog } from '../log/readable-log.js';
import type { Outlet } from './outlet.js';
import { snapshotPayload } from './shared-snapshot.js';
import { cursorAt, type ReaderStart } from './start.js';

/** The place from which a reader goes on. */
export interface AnnouncedPlace {
  readonly session: { readonly id: string; readonly view?: View };
  readonly log: ReadableLog | null;
  readonly after: number;
}

/** Tells a reader that events before its new place are missing. A client that is cut off here must not resume behind the snapshot to come. */
export function writeGap(outlet: Outlet, place: AnnouncedPlace, gap: NonNullable<ReaderStart['gap']>): void {
  const { log } = place;
  const range = { epoch: log?.ref.epoch ?? null, first: log?.first ?? 1, head: log?.head ?? 0 };
  outlet.gap(gap.reason);
  const [data] = dataAt(place);
  outlet.write(outlet.form.transient('gap', { ...data, ...gap, ...range }), 0);
}

/** Gives a reader the state at its new place, from where it can resume. */
export function writeSnapshot(
  outlet: Outlet,
  place: AnnouncedPlace,
  state: NonNullable<ReaderStart['snapshot']>,
): void {
  const { form } = outlet;
  const { view } = place.session;
  const encode = (shown: typeof state): unknown => {
    const [data, cursor] = dataAt(place);
    return form.transient('snapshot', { ...data, state: shown }, cursor);
  };
  outlet.write(view ? encode(view.state(state)) : snapshotPayload(state, form, () => encode(state)), 0);
  outlet.moved();
}

function dataAt({ session, log, after }: AnnouncedPlace) {
  const cursor = cursorAt(log, after) ?? undefined;
  return [{ sessionId: session.id, ...(cursor !== undefined && { cursor }) }, cursor] as const;
}
