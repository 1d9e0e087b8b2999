/** The settings that the plugin gave the page. */
export interface Settings {
  /** The gateway's mount, without a slash at its end. */
  readonly baseUrl: string;
  /** Prefix of the gateway's extra routes. */
  readonly extraRoutes: string;
  readonly readOnly: boolean;
  /** URL that kills the server's process, if the host allows it. */
  readonly killUrl?: string;
  /** URL that runs a session against the app as it is now, if the host does. */
  readonly replayUrl?: string;
  /** URL that tells what ran in a run, if the host does. */
  readonly traceUrl?: string;
}

function readSettings(): Settings {
  const {
    gateway = '.',
    extraRoutes = '',
    readOnly,
    canKill,
    canReplay,
    traces,
  } = document.documentElement.dataset;
  // An absolute URL, because the page shows it in commands that run elsewhere.
  const mount = new URL(`${gateway}/`, location.href);
  const baseUrl = `${mount.origin}${mount.pathname}`.replace(/\/+$/, '');
  return {
    baseUrl,
    extraRoutes,
    readOnly: readOnly === 'true',
    ...(canKill === 'true' && { killUrl: new URL('./_kill', location.href).href }),
    ...(canReplay === 'true' && { replayUrl: new URL('./_replay', location.href).href }),
    ...(traces === 'true' && { traceUrl: new URL('./_trace', location.href).href }),
  };
}

export const settings = readSettings();
