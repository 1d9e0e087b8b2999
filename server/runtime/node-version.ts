import { GatewayError } from '../../shared/errors.js';

/** The oldest supported Node, as in the package's `engines`. */
export const OLDEST_NODE = { major: 20, minor: 19 } as const;

// Every entry imports this module first. Older versions would fail later, with unclear errors about missing functions.
const { node } = process.versions;
const [major = 0, minor = 0] = node.split('.').map(Number);
if (major < OLDEST_NODE.major || (major === OLDEST_NODE.major && minor < OLDEST_NODE.minor)) {
  throw new GatewayError({
    code: 'INTERNAL',
    message: `agent-session-gateway needs Node ${OLDEST_NODE.major}.${OLDEST_NODE.minor} or newer; this is Node ${node}`,
  });
}
