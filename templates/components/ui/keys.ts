import type { KeyboardEvent } from 'react';

/** Whether a key is for an input method, such as the Enter that takes its word. Safari says so by the code alone: the word is ended before its key. */
export const isForInputMethod = ({ nativeEvent, keyCode }: KeyboardEvent): boolean =>
  nativeEvent.isComposing || keyCode === 229;

/** Whether a key sends what is written. On a touch screen, whose keyboard has no Shift for it, Enter begins a line. */
export const isSendKey = (event: KeyboardEvent): boolean =>
  event.key === 'Enter' &&
  !event.shiftKey &&
  !isForInputMethod(event) &&
  (event.ctrlKey || event.metaKey || !matchMedia('(pointer: coarse)').matches);
