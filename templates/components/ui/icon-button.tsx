import type { LucideIcon } from 'lucide-react';
import { type ComponentProps, useEffect } from 'react';
import { installTips } from './tips.js';

/** An icon as a button. Screen readers read its label, and the pointer or the focus shows it. A page that has room shows its word, too. */
export function IconButton({
  label,
  word,
  icon: Icon,
  className = '',
  ...rest
}: Omit<ComponentProps<'button'>, 'aria-label' | 'children'> & {
  readonly label: string;
  readonly word?: string;
  readonly icon: LucideIcon;
}) {
  useEffect(installTips, []);
  return (
    <button type="button" className={`icon ${className}`} aria-label={label} data-tip={label} {...rest}>
      <Icon aria-hidden="true" />
      {word && <span className="word">{word}</span>}
    </button>
  );
}
