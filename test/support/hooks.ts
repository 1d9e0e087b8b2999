import './fuzz.js';
import { closeAll } from './resources.js';

/** Closes what a test opened, also when it failed. */
export const mochaHooks = {
  async afterEach(): Promise<void> {
    await closeAll();
  },
};
