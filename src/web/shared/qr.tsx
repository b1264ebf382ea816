import { useMemo } from 'preact/hooks'
import encodeQR from 'qr'

/** What ISO/IEC 18004 asks for around a code. */
const QUIET_MODULES = 4

/** A QR code as wide as its place, black on white whatever the theme. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => drawn(text), [text])
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} shape-rendering="crispEdges" role="img" aria-label={label}>
      <path d={path} fill="#000000" />
    </svg>
  )
}

function drawn(text: string): { size: number; path: string } {
  // A screen loses nothing, so as little correction as there is: larger modules are easier to scan.
  const rows = encodeQR(text, 'raw', { ecc: 'low', border: QUIET_MODULES })
  const path = rows.map((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')).join('')).join('')
  return { size: rows.length, path }
}
