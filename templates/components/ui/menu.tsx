import { Check, type LucideIcon } from 'lucide-react';
import {
  createContext,
  type KeyboardEvent,
  type ReactNode,
  useContext,
  useId,
  useRef,
  useState,
} from 'react';
import { place } from './place.js';

const CloseContext = createContext(() => {});

/** A button that opens a menu. Arrows, Home and End move the focus; Escape or a choice closes the menu. */
export function Menu({
  label,
  icon: Icon,
  className = 'icon',
  align = 'end',
  text,
  tabIndex,
  children,
}: {
  readonly label: string;
  readonly icon?: LucideIcon;
  readonly className?: string;
  readonly align?: 'start' | 'end';
  /** The content of the button, in place of an icon. */
  readonly text?: ReactNode;
  readonly tabIndex?: number;
  readonly children: ReactNode;
}) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  const items = () => [...list.current!.querySelectorAll<HTMLElement>('[role^="menuitem"]:not(:disabled)')];
  const onKeyDown = (event: KeyboardEvent) => {
    const all = items();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === 'Tab') list.current!.hidePopover();
    if (next === undefined) return;
    event.preventDefault();
    all.at(next % all.length)?.focus();
  };
  return (
    <>
      <button
        type="button"
        ref={button}
        tabIndex={tabIndex}
        className={className}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        data-tip={text === undefined ? label : undefined}
        popoverTarget={id}
      >
        {Icon && <Icon aria-hidden="true" />}
        {text}
      </button>
      <div
        id={id}
        ref={list}
        popover="auto"
        role="menu"
        aria-label={label}
        className="menu"
        onKeyDown={onKeyDown}
        onBeforeToggle={({ newState }) => setOpen(newState === 'open')}
        onToggle={({ newState }) => {
          if (newState !== 'open') return;
          place(list.current!, button.current!, align);
          (items().find((it) => it.ariaChecked === 'true') ?? items()[0])?.focus();
        }}
      >
        {open && <CloseContext value={() => list.current?.hidePopover()}>{children}</CloseContext>}
      </div>
    </>
  );
}

/** One action of a menu, or one of its choices if `checked` is given. */
export function MenuItem({
  icon: Icon,
  checked,
  className = '',
  onChoose,
  children,
}: {
  readonly icon?: LucideIcon;
  readonly checked?: boolean;
  readonly className?: string;
  readonly onChoose: () => void;
  readonly children: ReactNode;
}) {
  const close = useContext(CloseContext);
  const isChoice = checked !== undefined;
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: it is a choice of a menu, or has none
    <button
      type="button"
      role={isChoice ? 'menuitemradio' : 'menuitem'}
      aria-checked={checked}
      tabIndex={-1}
      className={className}
      onClick={() => {
        close();
        onChoose();
      }}
    >
      {isChoice ? (
        <Check aria-hidden="true" className={checked ? '' : 'blank'} />
      ) : (
        Icon && <Icon aria-hidden="true" />
      )}
      <span>{children}</span>
    </button>
  );
}
