import type { Checks } from '../checks.js';

/** Blocks that use their gateways themselves, and close them; or whose app a test of the page's own talks to. */
const nothing = { after: () => {} };

export const TESTING: Checks = {
  'docs/testing.md#1': nothing,
  'docs/testing.md#3': nothing,
  'docs/testing.md#4': nothing,
  'docs/testing.md#5': nothing,
  'docs/testing.md#7': nothing,
  'docs/recording.md#1': nothing,
  'docs/recording.md#2': nothing,
};
