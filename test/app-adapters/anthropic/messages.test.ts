import { expect } from 'chai';
import * as fc from 'fast-check';
import { toAnthropicMessages } from '../../../server/app-adapters/anthropic/index.js';
import type { ContentBlock } from '../../../shared/messages.js';
import { conversations, interleavedCalls, message } from '../conversations.js';

/** What the API refuses of a conversation. */
function refusals({ messages }: ReturnType<typeof toAnthropicMessages>): string[] {
  const refused: string[] = [];
  const ids = new Set<string>();
  if (messages.length > 0 && messages[0]!.role !== 'user') refused.push('it begins with an answer');
  messages.forEach(({ role, content }, at) => {
    if (typeof content === 'string') return;
    if (content.length === 0) refused.push(`${at} is empty`);
    const next = messages[at + 1];
    const results = Array.isArray(next?.content) ? next.content : [];
    for (const block of content) {
      if (block.type === 'text' && block.text.trim() === '') refused.push(`${at} has empty text`);
      if (block.type !== 'tool_use') continue;
      if (role !== 'assistant') refused.push(`${at} calls`);
      if (!/^[\w-]{1,64}$/.test(block.id) || ids.has(block.id)) refused.push(`${at} has the id ${block.id}`);
      if (!/^[\w-]{1,128}$/.test(block.name)) refused.push(`${at} has the name ${block.name}`);
      if (typeof block.input !== 'object' || Array.isArray(block.input) || block.input === null)
        refused.push(`${at} has the input ${block.input}`);
      ids.add(block.id);
      if (!results.some((result) => result.type === 'tool_result' && result.tool_use_id === block.id))
        refused.push(`${at} has no result of ${block.id}`);
    }
  });
  return refused;
}

describe('messages for Anthropic', () => {
  it('of any conversation are such as the API takes', () => {
    fc.assert(
      fc.property(conversations(), (all) => {
        expect(refusals(toAnthropicMessages(all))).to.deep.equal([]);
      }),
      { numRuns: 300 },
    );
  });

  it('have the results right behind their calls, one for each', () => {
    const converted = toAnthropicMessages(interleavedCalls());
    expect(refusals(converted)).to.deep.equal([]);
    expect(
      converted.messages.map(({ content }) => (content as any[]).map?.((it) => it.id ?? it.tool_use_id)),
    ).to.deep.equal([...[undefined, ['a', 'b'], ['a', 'b'], ['c'], ['c']]]);
  });

  it('have calls that others made in a form that the API takes', () => {
    const call = (callId: string, name: string, input: unknown): ContentBlock[] => [
      { type: 'tool_use', callId, name, input },
      { type: 'tool_result', callId, name, output: 'x', isError: true },
    ];
    const all = [
      message('user', [{ type: 'text', text: 'Go' }]),
      message('assistant', [
        ...call('a/b', 'mail.send', 'not JSON'),
        ...call('same', 'ok', [1]),
        ...call('same', 'ok', { a: 1 }),
        { type: 'tool_use', callId: 'open', name: 'ok', input: {} },
      ]),
    ];
    const converted = toAnthropicMessages(all);
    expect(refusals(converted)).to.deep.equal([]);
    const blocks = converted.messages.flatMap(({ content }) => content as any[]);
    expect(
      blocks.filter(({ type }) => type === 'tool_use').map(({ name, input }) => [name, input]),
    ).to.deep.equal([
      ['mail_send', { input: 'not JSON' }],
      ['ok', { input: [1] }],
      ['ok', { a: 1 }],
      ['ok', {}],
    ]);
    expect(
      blocks.filter(({ type }) => type === 'tool_result').map(({ content, is_error }) => [content, is_error]),
    ).to.deep.equal([
      ...[
        ['x', true],
        ['x', true],
        ['x', true],
        ['The tool did not answer', true],
      ],
    ]);
  });

  it('begin with the system messages apart; later ones are those of a user', () => {
    const said = (role: 'system' | 'user', text: string) => message(role, [{ type: 'text', text }]);
    const { system, messages } = toAnthropicMessages([
      ...[said('system', 'A'), said('system', 'B'), said('user', 'C'), said('system', 'D')],
    ]);
    expect(system).to.equal('A\n\nB');
    expect(messages.map(({ role, content }) => [role, (content as any)[0].text])).to.deep.equal([
      ['user', 'C'],
      ['user', 'D'],
    ]);
  });

  it('show pictures, documents and text as such, also in results, and say what can not be shown', () => {
    const shown: ContentBlock[] = [
      { type: 'image', mediaType: 'image/png', data: 'AAAA' },
      { type: 'image', mediaType: 'image/png', url: 'https://files.example/a.png' },
      { type: 'image', mediaType: 'image/*', url: 'data:image/gif;base64,BBBB' },
      { type: 'file', mediaType: 'application/pdf', data: 'CCCC', name: 'a.pdf' },
      { type: 'file', mediaType: 'text/csv', data: Buffer.from('a,b').toString('base64') },
      { type: 'audio', mediaType: 'audio/wav', data: 'DDDD', name: 'a.wav' },
      { type: 'file', mediaType: 'application/zip', url: 'https://files.example/a.zip' },
      { type: 'file', mediaType: 'application/pdf', fileId: 'f' },
    ];
    const source = (media_type: string, data: string) => ({ type: 'base64', media_type, data });
    const expected = [
      { type: 'image', source: source('image/png', 'AAAA') },
      { type: 'image', source: { type: 'url', url: 'https://files.example/a.png' } },
      { type: 'image', source: source('image/gif', 'BBBB') },
      { type: 'document', source: source('application/pdf', 'CCCC'), title: 'a.pdf' },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,b' } },
      { type: 'text', text: '[a.wav: of a kind that is not shown]' },
      { type: 'text', text: '[application/zip: https://files.example/a.zip]' },
      { type: 'text', text: '[application/pdf: not available]' },
    ];
    const call = { type: 'tool_result', callId: 'a', name: 'draw', isError: false } as const;
    const { messages } = toAnthropicMessages([
      message('user', shown),
      message('assistant', [
        { type: 'tool_use', callId: 'a', name: 'draw', input: {} },
        { ...call, output: { content: shown, structured: { n: 1 } } },
      ]),
    ]);
    expect(messages[0]!.content).to.deep.equal(expected);
    expect(messages[2]!.content).to.deep.equal([
      {
        ...{ type: 'tool_result', tool_use_id: 'a' },
        content: [...expected, { type: 'text', text: '{"n":1}' }],
      },
    ]);
  });
});
