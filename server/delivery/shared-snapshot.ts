import type { SessionState } from '../../shared/fold.js';
import type { WireForm } from './wire-form.js';

// Weak both ways: a payload lives while a socket is still writing it, and no longer than its state.
const encoded = new WeakMap<SessionState, Map<WireForm<unknown>, WeakRef<object>>>();

/** The payload of a snapshot, encoded once for all readers that get the same state in the same form at about the same time. */
export function snapshotPayload(
  state: SessionState,
  form: WireForm<unknown>,
  encode: () => unknown,
): unknown {
  const forms = encoded.get(state) ?? new Map<WireForm<unknown>, WeakRef<object>>();
  const shared = forms.get(form)?.deref();
  if (shared !== undefined) return shared;
  const payload = encode();
  if (typeof payload === 'object' && payload !== null) {
    forms.set(form, new WeakRef(payload));
    encoded.set(state, forms);
  }
  return payload;
}
