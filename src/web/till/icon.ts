// The seal as a PNG, drawn here: a browser that installs the till wants pictures of fixed sizes, and one drawing serves all of them.
import { crc32, deflateSync } from 'node:zlib'

type Point = readonly [x: number, y: number]
type Color = readonly [red: number, green: number, blue: number]

const PAPER: Color = [0x12, 0x14, 0x1a]
const ACCENT: Color = [0x7a, 0xa2, 0xff]

// On a square of side 1. Within the middle four fifths, which no mask cuts away.
const CENTER: Point = [0.5, 0.5]
const RADIUS = 0.26
const HALF_STROKE = 0.034
const TICK: readonly Point[] = [
  [0.39, 0.505],
  [0.47, 0.59],
  [0.62, 0.415],
]

/** A square of so many pixels. */
export function drawIcon(size: number): Uint8Array {
  const rows = Array.from({ length: size }, (_, y) => {
    const row = new Uint8Array(1 + size * 3)
    for (let x = 0; x < size; x++) row.set(colorAt([(x + 0.5) / size, (y + 0.5) / size], size), 1 + x * 3)
    return row
  })
  return png(size, Buffer.concat(rows))
}

function colorAt(point: Point, size: number): number[] {
  const ring = Math.abs(distance(point, CENTER) - RADIUS)
  const tick = Math.min(...TICK.slice(1).map((end, i) => distanceToLine(point, TICK[i] ?? end, end)))
  // One pixel of transition, so that the edge is smooth.
  const ink = Math.min(1, Math.max(0, 0.5 + (HALF_STROKE - Math.min(ring, tick)) * size))
  return PAPER.map((paper, i) => Math.round(paper + ((ACCENT[i] ?? 0) - paper) * ink))
}

const distance = ([ax, ay]: Point, [bx, by]: Point): number => Math.hypot(ax - bx, ay - by)

function distanceToLine([x, y]: Point, [ax, ay]: Point, [bx, by]: Point): number {
  const along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2)
  const at = Math.min(1, Math.max(0, along))
  return distance([x, y], [ax + (bx - ax) * at, ay + (by - ay) * at])
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Eight bits of red, green and blue, without filters (PNG § 11). */
function png(size: number, rows: Uint8Array): Uint8Array {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  header.set([8, 2, 0, 0, 0], 8)
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))])
}

function chunk(type: string, data: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const whole = Buffer.alloc(named.length + 8)
  whole.writeUInt32BE(data.length, 0)
  whole.set(named, 4)
  whole.writeUInt32BE(crc32(named), named.length + 4)
  return whole
}
