/** What the service is compared with: an end-point on the same HTTP server, with one `SELECT 1` on the same database. */
import { Hono } from 'hono';
import { Pool } from 'pg';
import { startHttpServer } from '../../client/http/server';

const main = async (databaseUrl: string): Promise<void> => {
  const pool = new Pool({ connectionString: databaseUrl, max: 10 });
  const app = new Hono();
  app.get('/', async (c) => {
    await pool.query('SELECT 1');
    return c.json({ ok: true });
  });
  const { url } = await startHttpServer(app, { host: '127.0.0.1', port: 0 });
  process.stdout.write(`${JSON.stringify({ ready: true, url })}\n`);
};

void main(process.argv[2] ?? '');
