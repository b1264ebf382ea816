// A database with a write-ahead log needs shared memory and working locks. Network file systems have neither, and the damage
// shows only later (SQLite, "Write-Ahead Logging" § 1). Detected on Linux only.
import { existsSync, readFileSync, statfsSync } from 'node:fs'

/** Numbers of `statfs(2)`. Without 9p: sandboxes and virtual machines provide local disks through it. */
const NETWORK_TYPES = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
])

/** FUSE also has local file systems; the mount table names the program. */
const FUSE_TYPE = 0x65735546
const NETWORK_PROGRAMS = /^fuse\.(sshfs|rclone|s3fs|glusterfs|davfs2?)$/

const MOUNTS = '/proc/self/mounts'

/** Undefined for a local file system. */
export function networkFileSystemOf(dir: string): string | undefined {
  if (process.platform !== 'linux') return undefined
  // A sandbox may hide the mount table; then the directory is accepted.
  return networkTypeOf(dir, statfsSync(dir).type, () => (existsSync(MOUNTS) ? readFileSync(MOUNTS, 'utf8') : ''))
}

export function networkTypeOf(dir: string, type: number, mounts: () => string): string | undefined {
  // Above 2 ** 31 some systems return a negative number.
  const known = NETWORK_TYPES.get(type >>> 0)
  if (known || type !== FUSE_TYPE) return known
  const kind = mountedKindOf(dir, mounts())
  return NETWORK_PROGRAMS.test(kind) ? kind.replace('fuse.', '') : undefined
}

/** The deepest mount above the directory; of several at one place, the last. Spaces are written \040. */
function mountedKindOf(dir: string, mounts: string): string {
  const path = `${dir}/`
  const above = mounts
    .split('\n')
    .map(line => line.split(' '))
    .map(([, place = '', kind = '']) => ({ place: place.replaceAll('\\040', ' ').replace(/\/?$/, '/'), kind }))
    .filter(({ place }) => path.startsWith(place))
  return above.reduce((deepest, mount) => (mount.place.length >= deepest.place.length ? mount : deepest), { place: '', kind: '' })
    .kind
}
