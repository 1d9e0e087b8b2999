import type { KeyboardEvent } from 'react';

/** Whether a key is for an input method, such as the Enter that takes its word. Safari says so by the code alone: the word is ended before its key. */
export const isForInputMethod = ({ nativeEvent, keyCode }: KeyboardEvent): boolean =>
  nativeEvent.isComposing || keyCode === 229;
