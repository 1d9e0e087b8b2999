import './fuzz.js';
import './shipped-limits.js';
import { closeAll, closeShared } from './resources.js';
import { assertTrueEnds } from './streamed.js';

/** Closes what a test opened, also when it failed. */
export const mochaHooks = {
  async afterEach(): Promise<void> {
    await closeAll();
    assertTrueEnds();
  },
  /** After all files, or, where files run at the same time, after each. */
  async afterAll(): Promise<void> {
    await closeShared();
  },
};
