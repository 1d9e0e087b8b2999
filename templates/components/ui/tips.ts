import { place } from './place.js';

/** How long a pointer rests on an element before its label is shown, in milliseconds. */
const REST_MS = 350;

let isInstalled = false;

/** Shows the label of an element with `data-tip` under a resting pointer or with keyboard focus. One element serves the whole page. */
export function installTips(): void {
  if (isInstalled) return;
  isInstalled = true;
  const tip = document.createElement('div');
  tip.className = 'asg tip';
  tip.popover = 'manual';
  // The element under the tip already has the text as its label.
  tip.ariaHidden = 'true';
  document.body.append(tip);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hide = () => {
    clearTimeout(timer);
    if (tip.matches(':popover-open')) tip.hidePopover();
  };
  const show = (anchor: HTMLElement) => {
    if (!anchor.isConnected || anchor.ariaExpanded === 'true') return;
    tip.textContent = anchor.dataset.tip!;
    hide();
    tip.showPopover();
    place(tip, anchor, 'center');
  };
  const anchorOf = ({ target }: Event) =>
    target instanceof Element ? target.closest<HTMLElement>('[data-tip]') : null;
  document.addEventListener('pointerover', (event) => {
    const anchor = anchorOf(event);
    if (!anchor || event.pointerType !== 'mouse') return hide();
    clearTimeout(timer);
    timer = setTimeout(() => show(anchor), REST_MS);
  });
  document.addEventListener('focusin', (event) => {
    const anchor = anchorOf(event);
    hide();
    // Later, as the focus may come with a popover: none is shown while another one is being shown.
    if (anchor?.matches(':focus-visible')) timer = setTimeout(() => show(anchor));
  });
  for (const type of ['focusout', 'pointerdown', 'keydown', 'scroll'])
    document.addEventListener(type, hide, { capture: true, passive: true });
}
