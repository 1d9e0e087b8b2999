import { defineApp } from '../../server/index.js';
import { gate } from '../support/gate.js';

/** An app that answers once the test says what. */
export function waiting() {
  const word = gate<string>();
  const began = gate();
  const app = defineApp({
    async *run() {
      began.open();
      yield await word.passed;
    },
  });
  return { app, word, began };
}
