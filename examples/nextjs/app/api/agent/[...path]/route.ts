import { gateway } from '../../../../lib/gateway';

const handle = (request: Request): Promise<Response> => gateway.fetch(request, { basePath: '/api/agent' });

export const runtime = 'nodejs';
export const dynamic = 'force-dynamic';
export { handle as GET, handle as OPTIONS, handle as POST };
