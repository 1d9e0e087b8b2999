import { GatherControl } from '../../server/log/gather-control.js';
import { MACHINE_LOAD } from '../../server/log/load-meter.js';
import { closeLater } from './resources.js';

/** A load that goes on, in shares of the time. */
interface Load {
  readonly cpu: number;
  readonly idle: number;
}

const meter = MACHINE_LOAD as { -readonly [K in keyof typeof MACHINE_LOAD]: (typeof MACHINE_LOAD)[K] };

function pretend({ cpu, idle }: Load): void {
  meter.cpuMs = () => meter.now() * cpu;
  meter.idleMs = () => meter.now() * idle;
}

/** Has pieces of answers wait for so long in this process, whatever it has to do. */
export function alwaysGather(ms: number): void {
  GatherControl.prototype.waits = () => true;
  Object.defineProperty(GatherControl.prototype, 'portionMs', { get: () => ms, configurable: true });
}

/** Does so until the test ends. */
export function gatherMeanwhile(ms: number): void {
  const kept = Object.getOwnPropertyDescriptors(GatherControl.prototype);
  alwaysGather(ms);
  closeLater(kept, ({ waits, portionMs }) => {
    Object.defineProperties(GatherControl.prototype, { waits, portionMs });
  });
}

/** Has this process pass for one with such a load, until the test ends or says another. */
export function pretendLoad(load: Load): void {
  const measure = { ...meter };
  pretend(load);
  closeLater(measure, (original) => void Object.assign(meter, original));
}
