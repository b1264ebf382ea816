import { useMemo } from 'preact/hooks'
import encodeQR from 'qr'
import { useCommon } from '../shared/language.ts'
import { Notice } from './notice.tsx'

/** The quiet zone, ISO/IEC 18004. */
const QUIET_MODULES = 4

/** As wide as its container, black on white in every theme. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => drawn(text), [text])
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} shape-rendering="crispEdges" role="img" aria-label={label}>
      <path d={path} fill="#000000" />
    </svg>
  )
}

function drawn(text: string): { size: number; path: string } {
  // The lowest error correction: a screen loses nothing, and larger modules are easier to scan.
  const rows = encodeQR(text, 'raw', { ecc: 'low', border: QUIET_MODULES })
  const path = rows.map((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')).join('')).join('')
  return { size: rows.length, path }
}

/** A warning beside a code, or a link, to localhost. In the frames of the demo the wallet is on the same page. */
export function LeadsHere({ link, sentence }: { link: string; sentence?: string }) {
  const words = useCommon()
  if (self !== top) return null
  return LOOPBACK.test(decodeURIComponent(link)) ? <Notice tone="wait">{sentence ?? words.leadsHere}</Notice> : null
}

const LOOPBACK = /https?:\/\/(localhost|[^/:]*\.localhost|127(\.\d+){3}|\[::1\])[:/]/
