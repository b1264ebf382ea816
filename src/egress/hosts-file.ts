import { statSync } from 'node:fs'
import { isIP } from '../base/ip.ts'
import { readBeginning } from '../base/read-beginning.ts'

/** Block lists can be larger; the rest is not read. */
const BYTES_MAX = 1024 * 1024

/** Looks up names in a hosts file (hosts(5)), which is read again when it changed. An unreadable file has no names. */
export function readHosts(file: string): (name: string) => string[] | undefined {
  let version = ''
  let names = new Map<string, string[]>()
  return name => {
    const current = versionOf(file)
    if (current !== version) {
      names = parseHosts(linesOf(file))
      version = current
    }
    return names.get(name)
  }
}

function versionOf(file: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(file)
    return [ino, size, mtimeMs, ctimeMs].join()
  } catch {
    return ''
  }
}

function linesOf(file: string): string[] {
  try {
    const lines = readBeginning(file, BYTES_MAX).toString('latin1').split('\n')
    // The last line may be cut off.
    return statSync(file).size > BYTES_MAX ? lines.slice(0, -1) : lines
  } catch {
    return []
  }
}

function parseHosts(lines: string[]): Map<string, string[]> {
  const names = new Map<string, string[]>()
  for (const line of lines) {
    const [address = '', ...aliases] = line.replace(/#.*/, '').trim().split(/\s+/)
    // An address with a zone is valid on this machine only.
    if (isIP(address) === 0 || address.includes('%')) continue
    for (const alias of aliases) {
      const name = alias.toLowerCase().replace(/\.$/, '')
      const known = names.get(name)
      if (!known) names.set(name, [address])
      else if (!known.includes(address)) known.push(address)
    }
  }
  return names
}
