// The seal as a PNG: an installed page needs icons of fixed sizes, and one drawing serves all.

type Point = readonly [x: number, y: number]
type Color = readonly [red: number, green: number, blue: number]

const PAPER: Color = [0x12, 0x14, 0x1a]
const ACCENT: Color = [0x7a, 0xa2, 0xff]

// Coordinates on a square of side 1, within the middle 80 % that no mask cuts away.
const CENTER = 0.5
const RADIUS = 0.26
const HALF_STROKE = 0.034
const TICK: readonly [Point, Point, Point] = [
  [0.39, 0.505],
  [0.47, 0.59],
  [0.62, 0.415],
]
/** The tick is within this distance of the centre. */
const TICK_WITHIN = 0.2

/** `size` pixels wide and high. Runs while requests wait, so it creates no objects per pixel. */
export function drawIcon(size: number): Uint8Array {
  const stride = 1 + size * 3
  const rows = new Uint8Array(size * stride)
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      const ink = inkAt((x + 0.5) / size, (y + 0.5) / size, size)
      const at = y * stride + 1 + x * 3
      for (let i = 0; i < 3; i++) rows[at + i] = PAPER[i]! + (ACCENT[i]! - PAPER[i]!) * ink
    }
  return png(size, rows)
}

/** The part of a pixel that the stroke covers, with one pixel of transition for a smooth edge. */
function inkAt(x: number, y: number, size: number): number {
  const fromCenter = Math.sqrt((x - CENTER) ** 2 + (y - CENTER) ** 2)
  const ring = Math.abs(fromCenter - RADIUS)
  const tick = fromCenter < TICK_WITHIN ? Math.min(toLine(x, y, TICK[0], TICK[1]), toLine(x, y, TICK[1], TICK[2])) : 1
  return Math.min(1, Math.max(0, 0.5 + (HALF_STROKE - Math.min(ring, tick)) * size))
}

function toLine(x: number, y: number, [ax, ay]: Point, [bx, by]: Point): number {
  const along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2)
  const at = Math.min(1, Math.max(0, along))
  return Math.sqrt((x - ax - (bx - ax) * at) ** 2 + (y - ay - (by - ay) * at) ** 2)
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Eight bits of red, green and blue, without filters (PNG § 11). */
function png(size: number, rows: Uint8Array): Uint8Array {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  header.set([8, 2, 0, 0, 0], 8)
  // Not imported: the start of the service would wait for it.
  const { deflateSync } = process.getBuiltinModule('node:zlib')
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))])
}

function chunk(type: string, data: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const whole = Buffer.alloc(named.length + 8)
  whole.writeUInt32BE(data.length, 0)
  whole.set(named, 4)
  whole.writeUInt32BE(Bun.hash.crc32(named), named.length + 4)
  return whole
}
