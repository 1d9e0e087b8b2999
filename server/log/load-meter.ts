import { performance } from 'node:perf_hooks';

/** The clocks by which the load of a process is measured, in milliseconds. */
export interface LoadMeter {
  /** Monotonic time. */
  now(): number;
  /** Time of the processor that the process had. */
  cpuMs(): number;
  /** Time in which the event loop had nothing to do. */
  idleMs(): number;
}

/** The clocks of the machine. */
export const MACHINE_LOAD: LoadMeter = {
  now: () => performance.now(),
  cpuMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  idleMs: () => performance.eventLoopUtilization().idle,
};
