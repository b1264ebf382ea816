// A database with a write-ahead log needs memory that all its processes share, and locks that hold; file systems of other machines give neither,
// and the damage shows only later (SQLite, "Write-Ahead Logging" § 1). Known by what Linux says of a directory; other systems say nothing here.
import { existsSync, readFileSync, statfsSync } from 'node:fs'

/** The numbers of `statfs(2)`. Not among them 9p: sandboxes and virtual machines give out their local disks through it. */
const NETWORK_TYPES = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
])

/** In user space there are local ones as well; the table of mounts tells which program it is. */
const FUSE_TYPE = 0x65735546
const NETWORK_PROGRAMS = /^fuse\.(sshfs|rclone|s3fs|glusterfs|davfs2?)$/

const MOUNTS = '/proc/self/mounts'

/** The name of the network file system that a directory is on. */
export function networkFileSystemOf(dir: string): string | undefined {
  if (process.platform !== 'linux') return undefined
  // A sandbox may hide the table; then nobody can tell, and it is let in.
  return networkTypeOf(dir, statfsSync(dir).type, () => (existsSync(MOUNTS) ? readFileSync(MOUNTS, 'utf8') : ''))
}

export function networkTypeOf(dir: string, type: number, mounts: () => string): string | undefined {
  // Above 2 ** 31 it comes as a negative number on some systems.
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
