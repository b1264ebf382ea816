const COORDINATE = /^[\w-]{43}$/
const UNCOMPRESSED = 4

/**
 * The usual form of a key on P-256: a point (SEC 1 § 2.3.3) is imported several times faster than a JWK. Undefined for
 * coordinates of another length, which the JWK import judges.
 */
export function pointOnP256(x: string, y: string): Uint8Array<ArrayBuffer> | undefined {
  if (!COORDINATE.test(x) || !COORDINATE.test(y)) return undefined
  const point = Buffer.alloc(65)
  point[0] = UNCOMPRESSED
  point.write(x, 1, 'base64url')
  point.write(y, 33, 'base64url')
  return point
}
