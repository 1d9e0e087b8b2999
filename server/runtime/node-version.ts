import { GatewayError } from '../../shared/errors.js';

/** The oldest Node this runs on, as `engines` of the package says. */
export const OLDEST_NODE = { major: 20, minor: 19 } as const;

// Imported first by every entry: older versions would fail later, each with words of its own about some function that it lacks.
const { node } = process.versions;
const [major = 0, minor = 0] = node.split('.').map(Number);
if (major < OLDEST_NODE.major || (major === OLDEST_NODE.major && minor < OLDEST_NODE.minor)) {
  throw new GatewayError({
    code: 'INTERNAL',
    message: `agent-session-gateway needs Node ${OLDEST_NODE.major}.${OLDEST_NODE.minor} or newer; this is Node ${node}`,
  });
}
