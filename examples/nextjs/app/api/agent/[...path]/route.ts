import { gateway } from '../../../../lib/gateway';

const handle = (request: Request): Promise<Response> => gateway.fetch(request, { basePath: '/api/agent' });

export { handle as GET, handle as OPTIONS, handle as POST };
