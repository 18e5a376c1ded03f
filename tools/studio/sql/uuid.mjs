// Name-based ids (RFC 9562, version 5), so that every build gives the same rows the same ids.

import { createHash } from 'node:crypto';

const NAMESPACE = Buffer.from('5e1bed9e10004c00a0b00c0b00c0ffee', 'hex');

export function uuid(kind, name) {
  const b = createHash('sha1').update(NAMESPACE).update(`${kind}:${name}`).digest().subarray(0, 16);
  b[6] = (b[6] & 0x0f) | 0x50;
  b[8] = (b[8] & 0x3f) | 0x80;
  const h = b.toString('hex');
  return `${h.slice(0, 8)}-${h.slice(8, 12)}-${h.slice(12, 16)}-${h.slice(16, 20)}-${h.slice(20)}`;
}
