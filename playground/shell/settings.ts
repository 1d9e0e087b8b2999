/** What the plugin has told the page. */
export interface Settings {
  /** The gateway's mount, without a slash at its end. */
  readonly baseUrl: string;
  /** Prefix of some of its routes. */
  readonly extraRoutes: string;
  readonly readOnly: boolean;
  /** What ends the server's process, where the host has that. */
  readonly killUrl?: string;
}

function readSettings(): Settings {
  const { gateway = '.', extraRoutes = '', readOnly, canKill } = document.documentElement.dataset;
  // Written out, since the page shows it in commands that are run elsewhere.
  const mount = new URL(`${gateway}/`, location.href);
  const baseUrl = `${mount.origin}${mount.pathname}`.replace(/\/+$/, '');
  return {
    baseUrl,
    extraRoutes,
    readOnly: readOnly === 'true',
    ...(canKill === 'true' && { killUrl: new URL('./_kill', location.href).href }),
  };
}

export const settings = readSettings();
