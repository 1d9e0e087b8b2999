import { SESSION_HEADER } from './session-name.js';

/** Headers that the vendor's own client sends from a browser. */
export const CLIENT_HEADERS = [
  SESSION_HEADER,
  'OpenAI-Organization',
  'OpenAI-Project',
  ...[
    'Arch',
    'Async',
    'Helper-Method',
    'Lang',
    'OS',
    'Package-Version',
    'Poll-Helper',
    'Custom-Poll-Interval',
  ],
  ...['Raw-Response', 'Read-Timeout', 'Retry-Count', 'Runtime', 'Runtime-Version', 'Timeout'],
].map((name, at) => (at < 3 ? name : `X-Stainless-${name}`));
