import { type CallName, EXPORT_PATH, routeOf } from '../../shared/calls.js';
import { settings } from './settings.js';

/** The same call from a terminal and from a program. */
export interface RecipeText {
  readonly curl: string;
  readonly sdk: string;
}

/** Quotes an argument for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const code = (value: unknown): string => JSON.stringify(value);

// A variable, so that the reader's own token is on no screen.
const BEARER = '-H "Authorization: Bearer $TOKEN"';

/** The address of an operation. */
function at(operation: CallName): string {
  const route = routeOf(operation);
  return settings.baseUrl + (route.extra ? settings.extraRoutes : '') + route.path;
}

function post(operation: CallName, body: unknown, flags = ''): string {
  return `curl ${flags}${quote(at(operation))} ${BEARER} \\\n  -H 'Content-Type: application/json' \\\n  -d ${quote(code(body))}`;
}

function get(url: string, flags = ''): string {
  return `curl ${flags}${quote(url)} ${BEARER}`;
}

export function sendRecipe(sessionId: string, message: string, options: object = {}): RecipeText {
  const given = Object.entries(options).map(([name, value]) => `, { ${name}: ${code(value)} }`);
  return {
    curl: post('send', { sessionId, message, ...options }, '-N '),
    sdk: `const run = client.send(${code(sessionId)}, ${code(message)}${given.join('')});
for await (const text of run.text) console.log(text);`,
  };
}

export function editRecipe(sessionId: string, replaces: string, message: string): RecipeText {
  return {
    curl: post('send', { sessionId, message, replaces }, '-N '),
    sdk: `const run = client.session(${code(sessionId)}).edit(${code(replaces)}, ${code(message)});`,
  };
}

export function regenerateRecipe(sessionId: string, messageId: string): RecipeText {
  return {
    curl: post('regenerate', { sessionId, messageId }, '-N '),
    sdk: `const run = client.session(${code(sessionId)}).regenerate(${code(messageId)});`,
  };
}

export function answerRecipe(sessionId: string, callId: string): RecipeText {
  return {
    curl: post('tool-response', { sessionId, callId, approved: true }),
    sdk: `await client.session(${code(sessionId)}).approve(${code(callId)});`,
  };
}

export function eventsRecipe(sessionId: string): RecipeText {
  return {
    curl: get(`${settings.baseUrl}/events?sessionId=${encodeURIComponent(sessionId)}&from=earliest`, '-N '),
    sdk: `for await (const event of client.events(${code(sessionId)}, { from: 'earliest' })) console.log(event);`,
  };
}

export function sessionsRecipe(): RecipeText {
  return { curl: get(at('sessions')), sdk: 'const { sessions } = await client.sessions();' };
}

export function inboxRecipe(): RecipeText {
  return { curl: get(at('inbox')), sdk: 'const { sessions, unread } = await clientInbox(client).list();' };
}

export function noticesRecipe(sessionId: string): RecipeText {
  return {
    curl: get(`${at('notices')}?sessionId=${encodeURIComponent(sessionId)}`),
    sdk: `const notices = await clientInbox(client).notices(${code(sessionId)});`,
  };
}

export function updateRecipe(sessionId: string, changes: { title?: string; archived?: boolean }): RecipeText {
  return {
    curl: post('update', { sessionId, ...changes }),
    sdk: `await client.session(${code(sessionId)}).update(${code(changes)});`,
  };
}

export function closeRecipe(sessionId: string): RecipeText {
  return { curl: post('close', { sessionId }), sdk: `await client.close(${code(sessionId)});` };
}

export function deleteRecipe(sessionId: string): RecipeText {
  return { curl: post('delete', { sessionId }), sdk: `await client.session(${code(sessionId)}).delete();` };
}

export function exportRecipe(sessionId: string): RecipeText {
  const url = `${settings.baseUrl}${settings.extraRoutes}${EXPORT_PATH}?sessionId=${encodeURIComponent(sessionId)}`;
  return {
    curl: get(url),
    sdk: `import { exportSession } from 'agent-session-gateway/client/history';
for await (const message of exportSession({ baseUrl, token }, ${code(sessionId)})) console.log(message);`,
  };
}

export function importRecipe(sessionId: string): RecipeText {
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }];
  return {
    curl: post('import', { sessionId, messages }),
    sdk: `await client.session(${code(sessionId)}).import(messages);`,
  };
}

export function publishRecipe(sessionId: string, channel: string, payload: unknown): RecipeText {
  return {
    curl: post('channel', { sessionId, channel, payload }),
    sdk: `await client.channel(${code(channel)}, ${code(sessionId)}).publish(${code(payload)});`,
  };
}

export function invokeRecipe(method: string, params: unknown, stream: boolean): RecipeText {
  const args = params === undefined ? code(method) : `${code(method)}, ${code(params)}`;
  return {
    curl: post('invoke', { method, params }, stream ? '-N ' : ''),
    sdk: stream
      ? `for await (const item of client.stream(${args})) console.log(item);`
      : `const result = await client.invoke(${args});`,
  };
}

export function scheduleRecipe(sessionId: string, schedule: object): RecipeText {
  return {
    curl: post('schedule', { sessionId, ...schedule }),
    sdk: `await sessionSchedules(client, ${code(sessionId)}).schedule(${code(schedule)});`,
  };
}

export function shareRecipe(sessionId: string): RecipeText {
  const grant = { with: { link: true }, as: 'viewer' };
  return {
    curl: `${post('share', { sessionId, ...grant })}\n${post('unshare', { sessionId, grantId: '…' })}`,
    sdk: `const { share, unshare } = sessionSharing(client, ${code(sessionId)});\nconst { grant, token } = await share(${code(grant)});\nawait unshare(grant.grantId);`,
  };
}

export function takeOverRecipe(sessionId: string): RecipeText {
  return {
    curl: post('take-over', { sessionId }),
    sdk: `await sessionControl(client, ${code(sessionId)}).takeOver();`,
  };
}

export function handBackRecipe(sessionId: string): RecipeText {
  return {
    curl: post('hand-back', { sessionId, answer: true }),
    sdk: `await sessionControl(client, ${code(sessionId)}).handBack({ answer: true });`,
  };
}

export function unscheduleRecipe(sessionId: string, id: string): RecipeText {
  return {
    curl: post('unschedule', { sessionId, id }),
    sdk: `await sessionSchedules(client, ${code(sessionId)}).unschedule(${code(id)});`,
  };
}
