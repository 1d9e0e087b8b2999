import { HEALTH_PATHS } from '../../../shared/operations.js';
import { type Finding, ok, problem, warning } from './finding.js';
import { isAnswer, isGateways, type ProbeResponse, probe } from './probe.js';
import type { GatewayPlace } from './reach.js';

/** Remedies by the reason that a gateway gives. */
const FIXES: Readonly<Record<string, string>> = {
  starting: 'Wait until it has started. Its log says what it waits for.',
  'lame-duck': 'It serves until it is stopped, or until `agent-session-gateway lame-duck --off`.',
  'store-full':
    'Make room: on the disk of the database, or by maxmemory of Redis. The gateway goes on by itself.',
  descriptors:
    'Raise the limit of open files of the process (ulimit -n, LimitNOFILE), or start another gateway.',
  draining: 'Wait for the next one, or see why it was stopped.',
  memory:
    'Its log says how full the heap is. Give it more memory (NODE_OPTIONS=--max-old-space-size), start another gateway, or send it less.',
  overloaded: 'Give it more of a processor, start another gateway, or send it less: docs/limits.md.',
  'store-closed':
    'Its log says why, under "opening the store". Here, doctor --db examines a database that no gateway has open.',
  'store-silent':
    'See whether the server of the store runs and can be reached from the gateway: its address, a firewall in between, its load, its disk.',
  'store-unwritable':
    'Its log says why, under "the store cannot be written": look at the space that is left on the disk, at maxmemory of Redis, at the connections of PostgreSQL, and whether the file was removed or may not be written.',
  clock:
    'Set the clock of its machine, as by chrony or NTP: tokens and times of events go by it. The metric agent_gateway_store_clock_skew_seconds says by how much.',
  recovering: 'Its log says why, under "recovering sessions": the store is asked again until it tells.',
  plugin: 'Its log says why. An embedded gateway starts its plugins in start().',
};

/** Asks a gateway whether it takes work, as load balancers do. */
export async function examineReadiness({
  mount,
  extraRoutes,
  patienceMs,
}: GatewayPlace): Promise<readonly Finding[]> {
  const about = 'readiness';
  const path = HEALTH_PATHS.ready;
  const answer = await probe({ url: `${mount}${extraRoutes}${path}`, patienceMs });
  if (!isAnswer(answer))
    return [
      problem(about, `GET ${path} was not answered: ${answer.text}`, 'Look at the log of the gateway.'),
    ];
  if (answer.status === 200) return [ok(about, 'it takes work')];
  const reason = reasonIn(answer);
  if (reason !== undefined) {
    const { message } = answer.error!;
    const fix = FIXES[reason] ?? 'The log of the gateway says more.';
    const text = `it takes no work (${reason}): ${message}`;
    return [
      reason === 'draining' || reason === 'lame-duck' ? warning(about, text, fix) : problem(about, text, fix),
    ];
  }
  // A refused host name or address is told by the other findings.
  if (isGateways(answer) && answer.status < 500) return [];
  return [
    problem(
      about,
      `GET ${path} answers ${answer.status}, not as a gateway does`,
      'Let this path through to the gateway: load balancers ask it whether to send work.',
    ),
  ];
}

function reasonIn({ error }: ProbeResponse): string | undefined {
  const { reason } = (error?.details ?? {}) as { readonly reason?: unknown };
  return typeof reason === 'string' ? reason : undefined;
}
