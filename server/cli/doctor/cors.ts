import { type Finding, ok, problem } from './finding.js';
import { isAnswer, probe } from './probe.js';
import { type GatewayPlace, statusUrl } from './reach.js';

/** Checks whether a browser lets pages of an origin call the gateway. */
export async function examineCors(
  place: GatewayPlace,
  token: string | undefined,
  origin: string,
): Promise<Finding> {
  const about = 'CORS';
  const url = statusUrl(place);
  const { patienceMs } = place;
  if (new URL(url).origin === origin) return ok(about, `pages of ${origin} have the origin of the gateway`);
  const preflight = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  };
  const steps = [
    await probe({ url, patienceMs, method: 'OPTIONS', headers: { origin, ...preflight } }),
    await probe({ url, patienceMs, token, headers: { origin } }),
  ];
  const add = `Add it to the gateway: origins: ['${origin}']. In a host that has its own CORS, allow it there.`;
  for (const [at, answer] of steps.entries()) {
    const what = at === 0 ? 'the preflight' : 'the answer';
    if (!isAnswer(answer))
      return problem(about, `${what} did not come: ${answer.text}`, 'Look at what is in between.');
    const allowed = answer.headers.get('access-control-allow-origin');
    if (allowed === origin || allowed === '*') continue;
    if (answer.error?.code === 'ORIGIN_DENIED')
      return problem(about, `pages of ${origin} may not call the gateway`, add);
    const said = allowed === null ? 'allows no origin' : `allows ${allowed}`;
    return problem(
      about,
      `${what} (${answer.status}) ${said}, so browsers keep it from pages of ${origin}`,
      `${add} A proxy must pass OPTIONS and the Access-Control headers on.`,
    );
  }
  return ok(about, `pages of ${origin} may call the gateway`);
}
