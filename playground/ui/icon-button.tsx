import type { LucideIcon } from 'lucide-react';
import type { ComponentProps } from 'react';

/** A button that is an icon. Its label is read aloud, and shown where the pointer or the focus is. */
export function IconButton({
  label,
  icon: Icon,
  className = '',
  ...rest
}: Omit<ComponentProps<'button'>, 'aria-label' | 'children'> & {
  readonly label: string;
  readonly icon: LucideIcon;
}) {
  return (
    <button type="button" className={`icon ${className}`} aria-label={label} data-tip={label} {...rest}>
      <Icon aria-hidden="true" />
    </button>
  );
}
