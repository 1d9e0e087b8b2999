import type { PresenceView } from 'agent-session-gateway/client/people';
import { useControl } from 'agent-session-gateway/client/react';
import { Hand, Share2, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { Share } from '../../templates/components/share/share.js';
import { Code } from '../shell/code.js';
import { handBackRecipe, shareRecipe, takeOverRecipe } from '../shell/recipes.js';
import { hrefOf } from '../shell/route.js';
import { settings } from '../shell/settings.js';

/** Most avatars that are shown. */
const MOST = 5;

/** The other people in the session, the answering person or app, and the controls to change who answers. */
export function People({
  sessionId,
  user,
  presence: { members, me },
}: {
  readonly sessionId: string;
  readonly user: string;
  readonly presence: PresenceView;
}) {
  const { control, handOff, takeOver, handBack } = useControl(sessionId);
  const [shares, setShares] = useState(false);
  const [problem, setProblem] = useState('');
  const others = members.filter(({ id }) => id !== me);
  const attempt = (done: Promise<unknown>) => {
    setProblem('');
    done.catch((error: Error) => setProblem(error.message));
  };
  const isOwn = control?.by === user;
  return (
    <div className="people">
      <section className="row" aria-label="People">
        <ul className="row" aria-label="Who is here">
          {others.slice(0, MOST).map(({ id, userId, state }) => (
            <li key={id} className={`face ${state}`} data-tip={userId}>
              <span className="unseen">{userId}</span>
              <span aria-hidden="true">{[...userId].slice(0, 1).join('').toUpperCase()}</span>
            </li>
          ))}
        </ul>
        <Typing names={others.filter(({ state }) => state === 'typing').map(({ userId }) => userId)} />
        <span className="space" />
        {!settings.readOnly && !control && (
          <button type="button" className="quiet" onClick={() => attempt(takeOver())}>
            <Hand aria-hidden="true" />
            Take over
          </button>
        )}
        {!settings.readOnly && (
          <button type="button" className="quiet" onClick={() => setShares(true)}>
            <Share2 aria-hidden="true" />
            Share…
          </button>
        )}
      </section>
      {control && (
        <p className="control-bar" role="status">
          <Hand aria-hidden="true" />
          {isOwn ? 'You have control: what you send is the answer.' : `${control.by} answers here now.`}
          <span className="space" />
          {isOwn && !settings.readOnly && (
            <button type="button" onClick={() => attempt(handBack({ answer: true }))}>
              <Undo2 aria-hidden="true" />
              Hand back
            </button>
          )}
        </p>
      )}
      {handOff && (
        <p className="control-bar" role="status">
          The app asks for a person{handOff.reason && `: ${handOff.reason}`}
        </p>
      )}
      {problem && (
        <p className="notice bad" role="alert">
          {problem}
        </p>
      )}
      {!settings.readOnly && (
        <Code
          what={control ? 'hand back' : 'take over'}
          of={() => (control ? handBackRecipe(sessionId) : takeOverRecipe(sessionId))}
        />
      )}
      {shares && <ShareDialog sessionId={sessionId} onClose={() => setShares(false)} />}
    </div>
  );
}

function Typing({ names }: { readonly names: readonly string[] }) {
  const all = [...new Set(names)];
  return (
    <span className="muted" role="status">
      {all.length > 0 && `${all.join(', ')} ${all.length > 1 ? 'are' : 'is'} typing`}
    </span>
  );
}

const showModal = (dialog: HTMLDialogElement | null): void => {
  if (dialog?.open === false) dialog.showModal();
};

/** The URL at which this page opens a share link. The opened page removes the token from its address. */
const linkTo = (token: string, sessionId: string): string =>
  `${location.origin}${location.pathname}#token=${token}&${hrefOf({ view: 'chat', sessionId }).slice(1)}`;

function ShareDialog({ sessionId, onClose }: { readonly sessionId: string; readonly onClose: () => void }) {
  return (
    <dialog ref={showModal} className="confirm wide" aria-label="Share" onClose={onClose}>
      <h2>Share</h2>
      <Share id={sessionId} linkTo={linkTo} />
      <Code what="share" of={() => shareRecipe(sessionId)} />
      <form method="dialog" className="row end">
        <button type="submit">Done</button>
      </form>
    </dialog>
  );
}
