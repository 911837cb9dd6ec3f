/** Artifacts of a run, whole or by ranges of bytes. Whatever they hold, a browser runs nothing of it. */
import { createRoute, type RouteHandler } from '@hono/zod-openapi';
import { z } from 'zod';
import { MAX_PART_BYTES } from '../../direct/read-artifact';
import { ARTIFACT_HASH } from '../../schemas/common';
import { RUN_PARAM } from './runs';
import { PROBLEM_RESPONSE, secured } from '../openapi';
import { ProblemError } from '../problems/problem';
import type { App, AppEnv } from '../service';
import type { ArtifactPart, HoldfastClient } from '../../holdfast-client';

const BYTES = { '*/*': { schema: z.string().meta({ format: 'binary', description: 'In its own media type.' }) } };

const GET = createRoute({
  method: 'get',
  path: '/v1/runs/{run}/artifacts/{hash}',
  operationId: 'getArtifact',
  summary: 'Read an artifact that a record of the run names',
  ...secured('read'),
  request: {
    params: RUN_PARAM.extend({ hash: ARTIFACT_HASH }),
    headers: z.object({
      range: z
        .string()
        .max(100)
        .optional()
        .meta({ description: `\`bytes=0-65535\`; at most ${String(MAX_PART_BYTES)} bytes are sent at once.` }),
    }),
  },
  responses: {
    200: { description: 'All of it.', content: BYTES },
    206: { description: 'The range, or the first part of what is too large to be sent at once.', content: BYTES },
    304: { description: 'The client has it: an artifact never changes.' },
    ...PROBLEM_RESPONSE,
  },
});

interface Range {
  readonly offset: number;
  readonly limit: number;
}

const get: RouteHandler<typeof GET, AppEnv> = async (c) => {
  const { run, hash } = c.req.valid('param');
  const range = parseRange(c.req.valid('header').range);
  const part = await readPart(c.get('client'), { run, hash, range });
  const etag = `"${hash}"`;
  if (c.req.header('If-None-Match') === etag) return new Response(null, { status: 304, headers: { ETag: etag } });
  return toResponse(part, { offset: range?.offset ?? 0, isAsked: range !== undefined, etag });
};

const readPart = (
  client: HoldfastClient,
  { run, hash, range }: { readonly run: string; readonly hash: string; readonly range: Range | undefined },
): Promise<ArtifactPart> => client.artifact(run, hash, range ?? { offset: 0, limit: MAX_PART_BYTES });

const RANGE = /^bytes=(\d{1,10})-(\d{1,10})?$/;
const MAX_OFFSET = 2_147_000_000;

const parseRange = (header: string | undefined): Range | undefined => {
  if (header === undefined) return undefined;
  const [, first, last] = RANGE.exec(header) ?? [];
  const offset = Number(first);
  const limit = last === undefined ? MAX_PART_BYTES : Number(last) - offset + 1;
  if (first === undefined || limit < 1 || offset > MAX_OFFSET) {
    throw new ProblemError('request.range', 'Range: expected one range such as bytes=0-65535', { field: 'Range' });
  }
  return { offset, limit: Math.min(limit, MAX_PART_BYTES) };
};

const toResponse = (
  { bytes, mediaType, sizeBytes }: ArtifactPart,
  { offset, isAsked, etag }: { readonly offset: number; readonly isAsked: boolean; readonly etag: string },
): Response => {
  if (offset > 0 && offset >= sizeBytes) {
    throw new ProblemError('request.range', `Range: got an offset of ${offset}, expected one below ${sizeBytes}`, {
      field: 'Range',
      headers: { 'Content-Range': `bytes */${sizeBytes}` },
    });
  }
  const isWhole = bytes.byteLength === sizeBytes;
  const headers = new Headers({
    'Content-Type': mediaType,
    'Content-Security-Policy': "sandbox; default-src 'none'",
    'Cache-Control': 'private, no-cache',
    'Accept-Ranges': 'bytes',
    ETag: etag,
  });
  if (isWhole && !isAsked) return new Response(new Uint8Array(bytes), { status: 200, headers });
  headers.set('Content-Range', `bytes ${offset}-${offset + bytes.byteLength - 1}/${sizeBytes}`);
  return new Response(new Uint8Array(bytes), { status: 206, headers });
};

export const addArtifactRoute = (app: App): void => {
  app.openapi(GET, get);
};
