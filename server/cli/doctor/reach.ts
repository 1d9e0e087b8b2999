import { OPERATIONS } from '../../../shared/operations.js';
import { type Finding, ok, problem } from './finding.js';
import { isAnswer, isGateways, type ProbeRequest, type ProbeResponse, probe, type Silence } from './probe.js';

/** Usual mounts of gateways. */
const MOUNTS = ['', '/agent', '/api/agent', '/gateway', '/api/gateway', '/api', '/ai', '/chat', '/api/chat'];
const EXTRA_ROUTES = '/_gateway';

/** The place of requests to a gateway. */
export interface GatewayPlace {
  readonly mount: string;
  /** The prefix of the gateway's extra routes. */
  readonly extraRoutes: string;
  /** Longest wait for an answer, in milliseconds. */
  readonly patienceMs: number;
}

/** The findings about a place, with the gateway's answer to `GET /status` if there is one. */
export interface ReachReport {
  readonly findings: readonly Finding[];
  readonly answer?: ProbeResponse;
}

export const statusUrl = ({ mount, extraRoutes }: GatewayPlace): string => `${mount}${extraRoutes}/status`;

/** Checks whether a gateway answers at a place. If not, names the server that does, and a likely place of the gateway. */
export async function examineReach(place: GatewayPlace, token: string | undefined): Promise<ReachReport> {
  const asked = { url: statusUrl(place), token, patienceMs: place.patienceMs };
  const answer = await probe(asked);
  if (!isAnswer(answer)) return { findings: [await unreachable(place.mount, answer)] };
  if (isGateways(answer) && answer.error?.code !== 'ROUTE_NOT_FOUND')
    return { findings: [ok('address', `a gateway answers at ${place.mount}`)], answer };
  return { findings: [await foreign(place, asked, answer)] };
}

async function unreachable(mount: string, { code, text }: Silence): Promise<Finding> {
  const { hostname, host, protocol } = new URL(mount);
  const about = 'address';
  if (/ENOTFOUND|EAI_AGAIN/.test(code))
    return problem(
      about,
      `nobody knows the name ${hostname}`,
      'Check the spelling, and the DNS of this machine.',
    );
  if (code === 'ECONNREFUSED')
    return problem(
      about,
      `nothing listens at ${host}`,
      'Start the gateway, or give the address that it printed. In a container, it has to listen on 0.0.0.0, with `auth`.',
    );
  if (/TIMEDOUT|TIMEOUT/.test(code))
    return problem(
      about,
      `${host} does not answer`,
      'Look for a firewall or a security group in between, and for a gateway that hangs.',
    );
  if (/CERT|SELF_SIGNED|ISSUER/.test(code))
    return problem(
      about,
      `the certificate of ${host} is not trusted: ${text}`,
      'Use a certificate for this name; for one of your own, name its authority in NODE_EXTRA_CA_CERTS.',
    );
  if (protocol === 'https:' && /SSL|EPROTO|TLS|SOCKET|ECONNRESET/.test(code))
    return problem(about, `${host} speaks no TLS: ${text}`, `Try http://${host}, or put TLS in front of it.`);
  return problem(about, `${host} cannot be reached: ${text}`, 'Check the address, and what is in between.');
}

async function foreign(place: GatewayPlace, asked: ProbeRequest, answer: ProbeResponse): Promise<Finding> {
  const { status, headers } = answer;
  const about = 'address';
  if (status >= 300 && status < 400)
    return problem(
      about,
      `${asked.url} leads on to ${headers.get('location')}`,
      'Give the address at its end. If that is a page to log in, something in front wants to know who you are.',
    );
  if (status >= 502 && status <= 504)
    return problem(
      about,
      `a proxy answers (${status}), and cannot reach the gateway behind it`,
      'Start the gateway, and check the address that the proxy has for it.',
    );
  if (status === 401 || status === 403)
    return problem(
      about,
      `something in front of the gateway refuses the request (${status})`,
      'Let what is below the mount through: the gateway authenticates its callers itself.',
    );
  const found = await findMount(place, asked.token);
  if (found === undefined && (await isServing(place)))
    return problem(
      about,
      `a gateway is mounted at ${place.mount}, without the routes that doctor asks, as /status`,
      "Give their prefix with --extra-routes, or serve them: the gateway's option extraRoutes.",
    );
  const words = answer.error && isGateways(answer) ? `: ${answer.error.message}` : '';
  const what = status === 200 ? 'answers, but not as a gateway does' : `answers with ${status}${words}`;
  if (found === undefined)
    return problem(
      about,
      `${asked.url} ${what}`,
      'Give the path that the gateway is mounted at, as in app.use(path, gateway), or its option basePath.',
    );
  const moved = found.extraRoutes === place.extraRoutes ? '' : ` --extra-routes ${found.extraRoutes}`;
  return problem(
    about,
    `${asked.url} ${what}; a gateway is mounted at ${found.mount}`,
    `Use --url ${found.mount}${moved}`,
  );
}

/** Looks for a gateway above the given path, and at the usual mounts. */
async function findMount(
  { mount, patienceMs }: GatewayPlace,
  token: string | undefined,
): Promise<GatewayPlace | undefined> {
  const { origin, pathname } = new URL(mount);
  const parts = pathname.split('/').filter(Boolean);
  const above = parts.map((_, at) => `/${parts.slice(0, at + 1).join('/')}`).reverse();
  for (const path of new Set([...above, ...MOUNTS])) {
    for (const extraRoutes of ['', EXTRA_ROUTES]) {
      const place = { mount: `${origin}${path}`.replace(/\/$/, ''), extraRoutes, patienceMs };
      const answer = await probe({ url: statusUrl(place), token, patienceMs });
      if (!isAnswer(answer)) return undefined;
      if (isGateways(answer) && answer.error?.code !== 'ROUTE_NOT_FOUND') return place;
    }
  }
  return undefined;
}

/** Whether a gateway serves at least the routes that every gateway has. */
async function isServing({ mount, patienceMs }: GatewayPlace): Promise<boolean> {
  const answer = await probe({ url: `${mount}${OPERATIONS.send.path}`, patienceMs });
  return isAnswer(answer) && answer.error?.code === 'METHOD_NOT_ALLOWED';
}
