export const SECRET = Buffer.alloc(32, 'k').toString('base64');
