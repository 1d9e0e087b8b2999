// What `app/api/agent/[...path]/route.ts` of a Next.js application holds.
import { gateway } from './gateway.js';

const handle = (request: Request): Promise<Response> => gateway.fetch(request, { basePath: '/api/agent' });

export { handle as GET, handle as OPTIONS, handle as POST };
