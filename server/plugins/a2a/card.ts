import type { AppSummary } from '../../../shared/operation-types.js';

/** Fields of an agent card that the host adds, or says otherwise. */
export type CardFields = Readonly<Record<string, unknown>>;

/** The agent card of an app. @param url The address of its endpoint. @param pushes Whether tasks have push notifications */
export function cardOf(
  { name, description }: AppSummary,
  {
    url,
    pushes,
    fields = {},
  }: { readonly url: string; readonly pushes: boolean; readonly fields?: CardFields | undefined },
): object {
  const said = description ?? `The app ${name}`;
  return {
    name,
    description: said,
    version: '1',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true, pushNotifications: pushes, extendedAgentCard: false },
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: ['text/plain', 'application/json', 'application/octet-stream', 'image/*', 'audio/*'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: [{ id: name, name, description: said, tags: [name] }],
    ...fields,
  };
}
