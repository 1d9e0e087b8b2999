import { parseUrl } from '../../shared/parse-url.js';
import type { ModelMessage, ModelSettings } from '../diagnostics/messages.js';

/** OpenTelemetry's names of providers, where they differ from those of the libraries. */
const PROVIDERS: Readonly<Record<string, string>> = {
  'amazon-bedrock': 'aws.bedrock',
  amazon_bedrock: 'aws.bedrock',
  bedrock: 'aws.bedrock',
  azure: 'azure.ai.openai',
  azure_openai: 'azure.ai.openai',
  google: 'gcp.gemini',
  'google-vertex': 'gcp.vertex_ai',
  google_genai: 'gcp.gemini',
  google_vertexai: 'gcp.vertex_ai',
  mistral: 'mistral_ai',
  xai: 'x_ai',
};

/** OpenTelemetry's name of a provider. @param name The name that a library uses, such as `openai.chat`. */
export function providerOf(name: unknown): string | undefined {
  if (typeof name !== 'string' || name === '') return undefined;
  const [family = name] = name.split('.');
  return Object.hasOwn(PROVIDERS, family) ? PROVIDERS[family] : family;
}

/** Host and port of an endpoint, without anything else in its address. */
export function serverOf(baseURL: unknown): ModelMessage['server'] {
  const url = typeof baseURL === 'string' ? parseUrl(baseURL) : null;
  if (!url) return undefined;
  const { hostname: address, port, protocol } = url;
  return { address, port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port) };
}

/** The settings of a request, under the names of chat completions or of the libraries. */
export function settingsOf(request: Readonly<Record<string, unknown>>): ModelSettings {
  const number = (...names: readonly string[]): number | undefined =>
    names.map((name) => request[name]).find((value) => typeof value === 'number');
  return {
    temperature: number('temperature', 'ls_temperature'),
    topP: number('top_p', 'topP'),
    maxTokens: number('max_completion_tokens', 'max_tokens', 'maxOutputTokens', 'maxTokens', 'ls_max_tokens'),
  };
}
