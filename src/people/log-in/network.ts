import { isIP } from '../../base/ip.ts'
import { parseCidr } from '../../egress/addresses.ts'

const IPV4_BYTES = 3
const IPV6_BYTES = 6
const IPV4_MAPPED = /^::ffff:(?=[\d.]+$)/i

/** The network of a client as people read it, /24 or /48: where somebody was, not which machine. */
export function networkOf(address: string): string {
  const plain = address.replace(IPV4_MAPPED, '')
  if (isIP(plain) === 4) return `${plain.split('.').slice(0, IPV4_BYTES).join('.')}.0/24`
  const bytes = Buffer.from(parseCidr(plain)?.bytes ?? [])
  if (bytes.length < IPV6_BYTES) return ''
  const groups = [0, 2, 4].map(at => bytes.readUInt16BE(at).toString(16))
  return `${groups.join(':')}::/48`
}
