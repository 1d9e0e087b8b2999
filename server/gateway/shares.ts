import type { ParsedConfig } from '../config/parse.js';
import type { Report } from '../diagnostics/log-facts.js';
import type { OverloadLog } from '../lifecycle/overload-log.js';
import type { HeapRoom } from '../limits/heap-room.js';
import type { LoopDelay } from '../limits/loop-delay.js';
import { Quotas } from '../limits/quotas.js';
import { RunSlots } from '../limits/run-slots.js';
import { Tenancy } from '../limits/tenancy.js';

/** The parts that divide a gateway's capacity among those who use it. */
export interface Shares {
  readonly quotas: Quotas;
  readonly slots: RunSlots;
  readonly tenancy: Tenancy;
}

/** @param used Called for each use of a rate, where other gateways are to hear of it */
export function createShares(
  { limits, fairKey }: ParsedConfig,
  { load, heap, overload }: { load: LoopDelay; heap: HeapRoom; overload: OverloadLog },
  used: ((rate: number, key: string, units: number) => void) | undefined,
  report: Report,
): Shares {
  const tenancy = new Tenancy(fairKey, report);
  const slots = new RunSlots(limits);
  const quotas = new Quotas(limits, {
    tenantOf: (person) => tenancy.ofPerson(person),
    used,
    admit: (person) => {
      try {
        load.admit(() => slots.isBelowShare(tenancy.ofPerson(person)));
        heap.admit();
        overload.asked(false);
      } catch (error) {
        overload.asked(true);
        throw error;
      }
    },
    admitReader: load.admitReader,
  });
  return { quotas, slots, tenancy };
}
