import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { z } from 'zod';
import { createClient } from '../../client/index.js';
import { createDemoApp } from '../../server/demo/demo-app.js';
import { defineApp, type Gateway, tool } from '../../server/index.js';
import { textOf } from '../../shared/messages.js';
import { describeDaily } from '../support/daily.js';
import { newDatabase, startDurable } from '../support/durable.js';
import { startGateway, TOKEN } from '../support/gateway.js';
import { type Program, ROOT, runCommand } from '../support/program.js';
import { onTerminal } from '../support/pseudo-terminal.js';
import { closeLater } from '../support/resources.js';
import { socketDirectory } from '../support/socket-directory.js';
import { tempDir } from '../support/temp-dir.js';
import { CLI, runCliIn } from './run-cli.js';

/** Says word after word until it is stopped. */
const endless = defineApp({
  async *run({ signal }) {
    for (let n = 1; !signal.aborted; n++) {
      yield `word${n} `;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  },
});

const asker = defineApp({
  async *run(turn) {
    const answer = await turn.ask({
      name: 'size',
      payload: { text: 'Which size?' },
      schema: z.object({ size: z.number() }),
    });
    yield `Size ${answer.size} it is.`;
  },
});

const env = (url: string) => ({ AGENT_SESSION_GATEWAY_URL: url, AGENT_SESSION_GATEWAY_TOKEN: TOKEN });

const chatAt = (url: string, ...args: string[]) => onTerminal([...CLI, 'chat', ...args], { env: env(url) });

const script = (url: string, ...args: string[]): Program => runCliIn(ROOT, ['chat', ...args], env(url));

describeDaily('agent-session-gateway chat, on a terminal', 3, () => {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  it('streams answers, asks for a confirmation and leaves at Ctrl+D', async () => {
    const { url } = await startGateway({ app: createDemoApp(1) });
    const chat = chatAt(url);
    await chat.shows(/> /);
    chat.enters('weather in Oslo');
    await chat.shows(/It is cloudy in Oslo, 20 °C\.\r\n/);
    await chat.shows(/> /);
    chat.enters('delete report.txt');
    await chat.shows(/\? Delete report\.txt\?[\s\S]*\[y\/n\] /);
    chat.enters('perhaps');
    await chat.shows(/Answer y or n[\s\S]*\[y\/n\] /);
    chat.enters('n it is needed');
    await chat.shows(/delete was denied: it is needed[\s\S]*Then report\.txt stays\.\r\n/);
    await chat.shows(/> /);
    chat.enters('delete report.txt');
    await chat.shows(/\[y\/n\] /);
    chat.enters('y');
    await chat.shows(/delete was approved[\s\S]*Done: report\.txt is gone/);
    await chat.shows(/> /);
    chat.types('\x04');
    expect(await chat.exited).to.equal(0);
  });

  it('aborts the run at Ctrl+C, not the program, which a second one at an empty line leaves', async () => {
    const { url } = await startGateway({ app: endless });
    const chat = chatAt(url);
    await chat.shows(/> /);
    chat.enters('go');
    await chat.shows(/word5 /);
    chat.types('\x03');
    await chat.shows(/\r\n.*\(aborted\)/);
    await chat.shows(/> /);
    chat.enters('again');
    await chat.shows(/word5 /);
    chat.types('\x03');
    await chat.shows(/\(aborted\)/);
    await chat.shows(/> /);
    chat.types('half a line');
    await chat.shows(/half a line/);
    chat.types('\x03\x03');
    await chat.shows(/Ctrl\+C once more/);
    chat.types('\x03');
    expect(await chat.exited).to.equal(0);
    const client = closeLater(createClient({ baseUrl: url, token: TOKEN }), (it) => it.disconnect());
    const { messages } = await client.session('main').history();
    expect(messages.map(({ role, stopReason }) => stopReason ?? role)).to.deep.equal([
      'user',
      'aborted',
      'user',
      'aborted',
    ]);
  });

  it('asks a question until its answer fits, and takes none that was typed before', async () => {
    const { url } = await startGateway({ app: asker });
    const chat = chatAt(url);
    await chat.shows(/> /);
    // Both lines at once: the second is no answer to a question that nobody has read.
    chat.types('go\r{"size":1}\r');
    await chat.shows(/\? size[\s\S]*Which size[\s\S]*size \(number\): /);
    chat.enters('large');
    await chat.shows(/That is none\.[\s\S]*size \(number\): /);
    chat.enters('{"size":"large"}');
    await chat.shows(/INVALID_PARAMS[\s\S]*size \(number\): /);
    chat.enters('{"size":42}');
    await chat.shows(/size was answered[\s\S]*Size 42 it is\./);
  });

  it('sends pasted lines as one message, as lines that go on', async () => {
    const { url } = await startGateway({
      app: defineApp({ run: (turn) => `${turn.text.split('\n').length} lines, ${turn.text.length} letters` }),
    });
    const chat = chatAt(url);
    await chat.shows(/\[\?2004h[\s\S]*> /);
    chat.types('\x1b[200~one\rtwo\rthree\x1b[201~');
    chat.types('\r');
    await chat.shows(/3 lines, 13 letters/);
    await chat.shows(/> /);
    chat.enters('first\\');
    chat.enters('second');
    await chat.shows(/2 lines, 12 letters/);
    await chat.shows(/> /);
    chat.types('\x04');
    await chat.shows(/\[\?2004l/);
    expect(await chat.exited).to.equal(0);
  });

  it('has reasoning on lines of its own, and sends no word with a slash that it does not know', async () => {
    const { url } = await startGateway({
      app: defineApp({
        async *run(turn) {
          yield { type: 'reasoning_delta', delta: 'I think.' };
          yield `Said ${turn.text}`;
        },
      }),
    });
    const chat = chatAt(url);
    await chat.shows(/> /);
    chat.enters('/exti');
    await chat.shows(/\/exti is not known: \/help tells what is\. To send it, write \/\/exti/);
    await chat.shows(/> /);
    chat.enters('//exti');
    await chat.shows(/I think\.\S*\r\n[\s\S]*\[0JSaid \/exti/);
    await chat.shows(/> /);
    chat.enters('/etc/hosts');
    await chat.shows(/Said \/etc\/hosts/);
  });

  it('sets Markdown line by line: headings, lists, code and what is marked in a line', async () => {
    const text =
      '# Of *two*\n- some `code` and [a page](https://example.com)\n```\nlet **a**;\n```\n| **a** |\n';
    const { url } = await startGateway({ app: defineApp({ run: () => text }) });
    const chat = chatAt(url);
    await chat.shows(/> /);
    chat.enters('go');
    await chat.shows(/0\.\d s/);
    const lines = chat.output.split(/\r?\n/).map((line) => line.split('\x1b[0J').at(-1));
    expect(lines).to.include.members([
      '\x1b[1mOf \x1b[22m\x1b[1m\x1b[3mtwo\x1b[23m\x1b[22m\x1b[1m\x1b[22m',
      '• some \x1b[36mcode\x1b[39m and a page\x1b[2m (https://example.com)\x1b[22m',
      '\x1b[2mlet **a**;\x1b[22m',
      '| **a** |',
    ]);
  });

  it('asks for each field of a question: choices by number, what may be empty, and fields of fields', async () => {
    const schema = z.object({
      city: z.enum(['Oslo', 'Rome']),
      sea: z.boolean(),
      note: z.string().optional(),
      stay: z.object({ days: z.number() }),
    });
    const { url } = await startGateway({
      app: defineApp({ run: async (turn) => JSON.stringify(await turn.ask({ name: 'trip', schema })) }),
    });
    const chat = chatAt(url);
    await chat.shows(/> /);
    chat.enters('go');
    await chat.shows(/\? trip[\s\S]*city \(1 Oslo, 2 Rome\): /);
    chat.enters('3');
    await chat.shows(/That is none\.[\s\S]*city \(1 Oslo, 2 Rome\): /);
    chat.enters('2');
    await chat.shows(/sea \(boolean\): /);
    chat.enters('yes');
    await chat.shows(/note \(string; may be empty\): /);
    chat.enters('');
    await chat.shows(/days \(number\): /);
    chat.enters('4');
    await chat.shows(/\{"city":"Rome","sea":true,"stay":\{"days":4\}\}/);
  });

  it('keeps what was being written when a question came', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const app = defineApp({
      async run(turn) {
        if (turn.text !== 'go') return `Said ${turn.text}`;
        await released;
        await turn.confirm({ name: 'erase', message: 'Erase it?' });
        return 'Erased';
      },
    });
    const { url } = await startGateway({ app });
    const chat = chatAt(url);
    await chat.shows(/> /);
    chat.enters('go');
    await chat.shows(/\d s, Ctrl\+C stops it/);
    chat.types('y this is no consent');
    await chat.shows(/consent/);
    release();
    await chat.shows(/\? Erase it\?[\s\S]*\[y\/n\] /);
    chat.enters('y');
    await chat.shows(/Erased[\s\S]*> y this is no consent/);
    chat.enters('');
    await chat.shows(/Said y this is no consent/);
  });

  it('shows that an answer is on its way, takes messages meanwhile, and tells time and tokens at its end', async () => {
    const started: (() => void)[] = [];
    const app = defineApp({
      async *run(turn) {
        await new Promise<void>((resolve) => started.push(resolve));
        turn.usage({ inputTokens: 12, outputTokens: 34 });
        yield `Said ${turn.text}, ${(await turn.steered?.())?.length ?? 0}`;
      },
    });
    const { url } = await startGateway({ app });
    const chat = chatAt(url);
    await chat.shows(/> /);
    chat.enters('one');
    await chat.shows(/\S 0 s, Ctrl\+C stops it/);
    await chat.shows(/\S 1 s, Ctrl\+C stops it/);
    chat.enters('two');
    await chat.shows(/then: two/);
    started.shift()!();
    await chat.shows(/Said one[\s\S]*\d\.\d s, 12 tokens in, 34 out[\s\S]*> \S*two[\s\S]*Ctrl\+C stops it/);
    chat.enters('/interrupt three');
    await chat.shows(/given up for a newer message[\s\S]*> \S*three/);
    chat.types('\x03');
    await chat.shows(/\(aborted\)/);
  });

  it('edits the last message, and sends files', async () => {
    const app = defineApp({
      run: ({ text, message }) => `${text} with ${message.content.map(({ type }) => type).join('+')}`,
    });
    const { url } = await startGateway({ app });
    const path = join(tempDir(), 'table.csv');
    writeFileSync(path, 'a,b\n1,2\n');
    const chat = chatAt(url);
    await chat.shows(/> /);
    chat.enters('first');
    await chat.shows(/first with text/);
    chat.enters('/edit');
    await chat.shows(/> first/);
    chat.enters(' and more');
    await chat.shows(/first and more with text/);
    chat.enters('/attach /nowhere/table.csv');
    await chat.shows(/nowhere/);
    chat.enters(`/attach ${path}`);
    await chat.shows(/with table\.csv/);
    chat.enters('read');
    await chat.shows(/read with text\+file/);
    const client = closeLater(createClient({ baseUrl: url, token: TOKEN }), (it) => it.disconnect());
    const { messages } = await client.session('main').history();
    expect(messages.filter(({ role }) => role === 'user').map(textOf)).to.deep.equal([
      'first and more',
      'read',
    ]);
  });

  it('lists sessions and goes to another one', async () => {
    const { url } = await startGateway({
      app: defineApp({ run: ({ text, session }) => `${text} in ${session.id}` }),
    });
    const chat = chatAt(url);
    await chat.shows(/Session main[\s\S]*> /);
    chat.enters('hello');
    await chat.shows(/hello in \S*main/);
    chat.enters('/switch other');
    await chat.shows(/Session other[\s\S]*> /);
    chat.enters('hello');
    await chat.shows(/hello in \S*other/);
    chat.enters('/sessions');
    await chat.shows(/other\S* [^\n]*idle[\s\S]*main\S* [^\n]*idle/);
    chat.enters('/switch main');
    await chat.shows(/Session main[\s\S]*> \S*hello[\s\S]*hello in /);
    chat.types('\x04');
    expect(await chat.exited).to.equal(0);
  });

  it('sends lines that are entered one after the other', async () => {
    const { url } = await startGateway({ app: createDemoApp(1) });
    const chat = chatAt(url);
    await chat.shows(/> /);
    chat.types('weather in Oslo\rweather in Rome\rweather in Paris\r');
    await chat.shows(
      /in Oslo, 20 °C[\s\S]*> \S*weather in Rome[\s\S]*in Rome, [\s\S]*> \S*weather in Paris[\s\S]*in Paris, /,
    );
    await chat.shows(/> /);
  });

  it('shows what was before, questions of others, and that somebody else has answered', async () => {
    const { url } = await startGateway({ app: createDemoApp(1) });
    const client = closeLater(createClient({ baseUrl: url, token: TOKEN }), (it) => it.disconnect());
    await client.send('main', 'weather in Rome').result;
    const chat = chatAt(url);
    await chat.shows(/> \S*weather in Rome\r\n[\s\S]*in Rome, [\s\S]*> /);
    const run = client.send('main', 'delete a.txt');
    await chat.shows(/delete a\.txt[\s\S]*\[y\/n\] /);
    const { pending } = await client.session('main').state();
    await client.session('main').approve(pending[0]!);
    await run.result;
    await chat.shows(/delete was approved[\s\S]*Done: a\.txt is gone[\s\S]*> /);
  });

  it('shows what others change: another answer, and a way back', async () => {
    const { url } = await startGateway({ app: createDemoApp(1) });
    const client = closeLater(createClient({ baseUrl: url, token: TOKEN }), (it) => it.disconnect());
    const session = client.session('main');
    await session.send('weather in Rome').result;
    const chat = chatAt(url);
    await chat.shows(/in Rome, [\s\S]*> /);
    await session.regenerate().result;
    await chat.shows(/in Rome, [\s\S]*> /);
    await session.move(null);
    await chat.shows(/\(the conversation begins anew\)[\s\S]*> /);
  });

  it('has the last message answered again with /retry', async () => {
    let answered = 0;
    const app = defineApp({
      async *run() {
        answered += 1;
        yield `answer ${answered}`;
      },
    });
    const { url } = await startGateway({ app });
    const chat = chatAt(url);
    await chat.shows(/> /);
    chat.enters('/retry');
    await chat.shows(/Not sent: [\s\S]*> /);
    chat.enters('tell');
    await chat.shows(/answer 1[\s\S]*> /);
    chat.enters('/retry');
    await chat.shows(/answer 2[\s\S]*> /);
  });

  it('goes on after the gateway was restarted, where it was', async () => {
    const path = newDatabase();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const app = defineApp({
      resumable: true,
      async *run(turn) {
        const before = turn.resumed ? '' : 'first half ';
        yield before;
        if (!turn.resumed)
          return await new Promise<void>((_, reject) => turn.signal.addEventListener('abort', reject));
        await released;
        yield 'second half';
      },
    });
    const first = await startDurable(path, { app });
    const chat = chatAt(first.url);
    await chat.shows(/> /);
    chat.enters('tell');
    await chat.shows(/first half /);
    const port = Number(new URL(first.url).port);
    await first.gateway.close();
    await chat.shows(/\(the connection is lost; trying again\)/);
    await startDurable(path, { app, port });
    await chat.shows(/\(connected again\)/);
    release();
    await chat.shows(/\[0Jsecond half\r\n[\s\S]*> /);
    expect(chat.output).not.to.match(/first half\s+first half/);
    chat.enters('/exit');
    expect(await chat.exited).to.equal(0);
  });

  it('colours its output, and not with NO_COLOR', async () => {
    const { url } = await startGateway({ app: createDemoApp(1) });
    const coloured = chatAt(url);
    await coloured.shows(/> /);
    expect(coloured.output).to.contain('\u001b[2mSession main');
    const plain = onTerminal([...CLI, 'chat'], { env: { ...env(url), NO_COLOR: '1' } });
    await plain.shows(/> /);
    expect(plain.output).to.contain('Session main').and.not.contain('\u001b[2m');
  });
});

describeDaily('agent-session-gateway chat, for scripts', 3, () => {
  it('writes the answers of messages, one after the other, by URL and by socket', async () => {
    const { url, gateway } = await startGateway({
      app: createDemoApp(1),
      socketPath: `${socketDirectory()}/a.sock`,
    });
    const program = script(url, '-m', 'weather in Oslo', 'weather in Rome');
    expect(await program.exited, program.output).to.equal(0);
    expect(program.output).to.match(/in Oslo, 20 °C\.\n[\s\S]*in Rome, .*\.\n$/);
    const { socketPath } = await (gateway as Gateway).start();
    const bySocket = runCliIn(ROOT, ['chat', '--socket', socketPath!, '-m', 'weather in Oslo'], {
      AGENT_SESSION_GATEWAY_TOKEN: TOKEN,
    });
    expect(await bySocket.exited, bySocket.output).to.equal(0);
    expect(bySocket.output).to.contain('in Oslo, 20 °C.');
  });

  it('talks to a gateway without extra routes', async () => {
    const { url } = await startGateway({ app: createDemoApp(1), extraRoutes: false });
    const program = script(url, '-m', 'weather in Oslo');
    expect(await program.exited, program.output).to.equal(0);
    expect(program.output).to.contain('in Oslo, 20 °C.');
  });

  it('reads messages from its input, and writes events as JSON', async () => {
    const { url } = await startGateway({ app: createDemoApp(1) });
    const command = `printf 'weather in Oslo\\n\\nweather in Rome\\n' | ${CLI.join(' ')} chat --json`;
    const program = runCommand('sh', { args: ['-c', command], env: env(url) });
    expect(await program.exited, program.output).to.equal(0);
    const events = program.output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.filter(({ type }) => type === 'message_end')).to.have.length(2);
    expect(events.every(({ cursor }) => typeof cursor === 'string')).to.equal(true);
  });

  it('says by its exit code how the answer ended', async () => {
    const { url } = await startGateway({
      apps: {
        demo: createDemoApp(1),
        broken: defineApp({
          run: () => {
            throw new Error('no');
          },
        }),
        // Catches nothing.
        careless: defineApp({
          tools: { erase: tool({ confirm: true, handler: () => 'erased' }) },
          run: async (turn) => String(await turn.callTool('erase', {} as never)),
        }),
      },
      defaultApp: 'demo',
    });
    const broken = script(url, 'broken:a', '-m', 'go');
    expect(await broken.exited, broken.output).to.equal(1);
    const waiting = script(url, 'b', '-m', 'delete a.txt');
    expect(await waiting.exited, waiting.output).to.equal(3);
    expect(waiting.output).to.contain('delete waits for an answer').and.contain('--approve');
    const denied = script(url, 'c', '--deny', '-m', 'delete a.txt');
    expect(await denied.exited, denied.output).to.equal(0);
    expect(denied.output).to.contain('Then a.txt stays.');
    const uncaught = script(url, 'careless:a', '--deny', '-m', 'go');
    expect(await uncaught.exited, uncaught.output).to.equal(0);
    expect(uncaught.output).to.contain('(erase was denied)');
    const approved = script(url, 'd', '--approve', '-m', 'delete a.txt');
    expect(await approved.exited, approved.output).to.equal(0);
    expect(approved.output).to.contain('Done: a.txt is gone');
    // The run that asked above, in b, still waits: the message stands behind it.
    const behind = script(url, 'b', '--approve', '-m', 'weather in Oslo');
    await behind.prints(/waits behind an earlier run, which waits for an answer to delete.*`chat b`/);
    const held = closeLater(createClient({ baseUrl: url, token: TOKEN }), (it) => it.disconnect()).session(
      'b',
    );
    const [{ callId }] = (await held.state()).pending as unknown as [{ callId: string }];
    await held.respond(callId, { approved: false });
    expect(await behind.exited, behind.output).to.equal(0);
    const unknown = script(url, 'nobody:a', '-m', 'go');
    expect(await unknown.exited, unknown.output).to.equal(2);
    expect(unknown.output).to.contain('nobody');
  });

  it('stops the run at Ctrl+C and ends with 130', async () => {
    const { url } = await startGateway({ app: endless });
    const program = script(url, '-m', 'go');
    await program.prints(/word5 /);
    expect(await program.kill('SIGINT')).to.equal(130);
    expect(program.output).to.contain('(aborted)');
  });

  it('ends with one sentence and 2 where it cannot ask', async () => {
    const { url } = await startGateway({ app: createDemoApp(1) });
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [['--token', 'wrong'], /^The credentials are not valid\. Give a good token .*\n$/],
      [
        ['--url', 'http://127.0.0.1:9'],
        /^http:\/\/127\.0\.0\.1:9\/status cannot be reached: .*Is a gateway running there\? .*doctor.*\n$/,
      ],
      [['--url', 'ftp://a'], /^Not an http or https URL: "ftp:\/\/a"\n$/],
      [['--url', 'http://user:hidden@a'], /^The URL holds credentials/],
      [['--socket', '/nowhere/a.sock'], /^.*\/nowhere\/a\.sock.*\n$/],
      [['--approve', '--deny'], /^error: option '--approve' cannot be used with option '--deny'\n$/],
    ];
    for (const [args, said] of cases) {
      const program = script(url, ...args, '-m', 'hello');
      expect(await program.exited, program.output).to.equal(2);
      expect(program.output).to.match(said).and.not.contain('hidden');
    }
  });

  it('lets no app steer the terminal', async () => {
    const app = defineApp({
      async *run() {
        yield '\u001b]0;owned\u0007 \u202e \u001b[2J done';
      },
    });
    const { url } = await startGateway({ app });
    const program = script(url, '-m', 'go');
    expect(await program.exited).to.equal(0);
    expect(program.output)
      .to.match(/done\n$/)
      .and.not.match(/[\p{Bidi_Control}]|(?!\n)\p{Cc}/u);
  });
});
