import { type ReactNode, useEffect, useId, useRef } from 'react';

/** A dialog before an action that cannot be undone. */
export function Confirm({
  title,
  action,
  onConfirm,
  onClose,
  children,
}: {
  readonly title: string;
  /** Label of the button that does it. */
  readonly action: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => dialog.current!.showModal(), []);
  return (
    <dialog ref={dialog} className="confirm" aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
      <form method="dialog" className="row end">
        <button type="submit">Keep it</button>
        <button type="submit" className="danger" onClick={onConfirm}>
          {action}
        </button>
      </form>
    </dialog>
  );
}
