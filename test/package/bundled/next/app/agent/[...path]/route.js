import { gateway } from '../../../gateway.js';

async function handle(request) {
  await gateway.start();
  return gateway.fetch(request, { basePath: '/agent' });
}

export { handle as GET, handle as OPTIONS, handle as POST };
