import type { PresenceView } from 'agent-session-gateway/client/people';
import { Share2 } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { Beside, useAround } from '../ui/around.js';
import { Control } from './control.js';
import { Faces } from './presence.js';

const Share = lazy(async () => ({ default: (await import('./share.js')).Share }));

const showModal = (dialog: HTMLDialogElement | null): void => {
  if (dialog?.open === false) dialog.showModal();
};

/** The other people in a session, who answers, and the controls to change that and to share it: the `bar` of a `Chat`. */
export function People({
  id,
  user,
  presence,
}: {
  /** The session's key, such as `main`. */
  readonly id: string;
  /** Id of this page's user. */
  readonly user: string;
  readonly presence: PresenceView;
}) {
  const { readOnly } = useAround();
  const [shares, setShares] = useState(false);
  return (
    <section className="asg people" aria-label="People">
      <Faces presence={presence} />
      <Control id={id} user={user} />
      {!readOnly && (
        <button type="button" className="quiet" onClick={() => setShares(true)}>
          <Share2 aria-hidden="true" />
          Share…
        </button>
      )}
      {shares && (
        <dialog ref={showModal} className="confirm wide" aria-label="Share" onClose={() => setShares(false)}>
          <h2>Share</h2>
          <Suspense fallback={<p role="status">Loading…</p>}>
            <Share id={id} />
          </Suspense>
          <Beside does="share" sessionId={id} />
          <form method="dialog" className="row end">
            <button type="submit">Done</button>
          </form>
        </dialog>
      )}
    </section>
  );
}
