export type { StoreUnderTest } from './records.js';
export type { TestRunner } from './runner.js';
export { describeStore } from './store-contract.js';
