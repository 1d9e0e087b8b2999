import type { Command } from './commands.js';
import { Generator } from './generator.js';

// The load generator's process: commands come from the program that measures, and are answered in their order.

const generator = new Generator();

async function answer(command: Command): Promise<unknown> {
  switch (command.do) {
    case 'connect':
      return generator.connect(command.scripts, command.target);
    case 'zero':
      return generator.zero(command.latencies);
    case 'count':
      return generator.count(command.events, command.timeoutMs);
    case 'fire':
      return generator.fire(command.events, command.timeoutMs);
    case 'requests':
      return generator.requests(command.total, command.answers, command.timeoutMs);
    case 'rate':
      return generator.rate(command.perSecond, command.answers);
    case 'counts':
      return generator.counts;
  }
}

process.on('message', async (command: Command) => process.send!({ answer: (await answer(command)) ?? {} }));
process.on('disconnect', () => process.exit(0));
process.send!({ answer: {} });
