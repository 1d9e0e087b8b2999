/** Distance of a popover from its anchor and from the window's edge, in pixels. */
const GAP = 6;

/** Puts a popover below its anchor, or above if there is no room, and never outside of the window. */
export function place(popover: HTMLElement, anchor: Element, align: 'start' | 'center' | 'end'): void {
  const at = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = popover;
  const isRightToLeft = getComputedStyle(anchor).direction === 'rtl';
  const toRight = align === 'center' ? 0.5 : (align === 'end') === isRightToLeft ? 0 : 1;
  const left = at.left + (at.width - width) * toRight;
  const below = at.bottom + GAP;
  const top = below + height > innerHeight - GAP ? at.top - height - GAP : below;
  popover.style.left = `${Math.round(Math.max(GAP, Math.min(left, innerWidth - width - GAP)))}px`;
  popover.style.top = `${Math.round(Math.max(GAP, top))}px`;
}
