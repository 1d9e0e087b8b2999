import { GatewayError } from '../../shared/errors.js';

/**
 * Loads an optional peer dependency.
 *
 * @param user The function or command that needs it, for the error's text.
 * @param beside Peers of the dependency that must be installed with it.
 * @throws GatewayError `INTERNAL` naming the package to install
 */
export async function loadPeer<Module>(
  name: string,
  user: string,
  load: () => Promise<Module>,
  beside: readonly string[] = [],
): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    throw new GatewayError({
      code: 'INTERNAL',
      message: `${user} needs the package ${name}: npm install ${[name, ...beside].join(' ')}`,
      cause,
    });
  }
}
