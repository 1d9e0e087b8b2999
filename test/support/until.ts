import { closeLater } from './resources.js';

/** Resolves once a condition holds that nothing tells of; never after the running test has ended. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  let isOver = false;
  closeLater(condition, () => {
    isOver = true;
  });
  while (!isOver && !(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}
