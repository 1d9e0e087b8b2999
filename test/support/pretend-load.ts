import { performance } from 'node:perf_hooks';
import { closeLater } from './resources.js';

const pretend = (utilization: number): void => {
  performance.eventLoopUtilization = () => ({ idle: 1 - utilization, active: utilization, utilization });
};

/** Has the event loop of this process pass for one that has no room. */
export const alwaysBusy = (): void => pretend(1);

/** Has the event loop of this process pass for one that is busy for a share of its time, until the test ends or says another. */
export function pretendLoad(utilization: number): void {
  const measure = performance.eventLoopUtilization;
  pretend(utilization);
  closeLater(measure, (original) => {
    performance.eventLoopUtilization = original;
  });
}
