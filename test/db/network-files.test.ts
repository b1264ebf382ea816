import { afterAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { networkFileSystemOf, networkTypeOf } from '../../src/db/sqlite/network-files.ts'
import { cleanUp, temporaryDir } from '../helpers/app.ts'
import { vidimus } from '../helpers/cli.ts'
import { canInject, injecting, titled } from '../helpers/crash/system-calls.ts'

afterAll(cleanUp)

const FUSE = 0x65735546
const MOUNTS = [
  'overlay / overlay rw 0 0',
  'me@host:/x /mnt/far fuse.sshfs rw 0 0',
  '/dev/sdb1 /mnt/far/disk fuseblk rw 0 0',
  'gocryptfs /mnt/farther fuse.gocryptfs rw 0 0',
  'me@host:/y /mnt/two\\040words fuse.sshfs rw 0 0',
  'one /mnt/twice fuse.sshfs rw 0 0',
  'two /mnt/twice fuse.mergerfs rw 0 0',
  '',
].join('\n')
const noMounts = () => {
  throw new Error('nobody needs the table of mounts')
}

describe('a directory on a network file system', () => {
  // The numbers as uapi/linux/magic.h and the file systems themselves have them.
  test.each([
    [0x6969, 'NFS'],
    [0x517b, 'SMB'],
    [0xfe534d42, 'SMB'],
    [0xff534d42, 'CIFS'],
    [0xff534d42 | 0, 'CIFS'],
    [0x5346414f, 'AFS'],
    [0x00c36400, 'Ceph'],
  ])('%d is told as %s', (type, name) => {
    expect(networkTypeOf('/data', type, noMounts)).toBe(name)
  })

  test.each([
    ['ext4', 0xef53],
    ['xfs', 0x58465342],
    ['btrfs', 0x9123683e],
    ['zfs', 0x2fc12fc1],
    ['tmpfs', 0x01021994],
    ['overlayfs', 0x794c7630],
    ['9p, as sandboxes give out local disks', 0x01021997],
  ])('%s is none', (_, type) => {
    expect(networkTypeOf('/data', type, noMounts)).toBeUndefined()
  })

  test.each([
    ['/mnt/far', 'sshfs'],
    ['/mnt/far/deep/down', 'sshfs'],
    ['/mnt/far/disk/data', undefined],
    ['/mnt/farther/data', undefined],
    ['/mnt/two words/data', 'sshfs'],
    ['/mnt/twice/data', undefined],
    ['/elsewhere', undefined],
  ])('in user space the deepest mount above %s decides: %p', (dir, name) => {
    expect(networkTypeOf(dir, FUSE, () => MOUNTS)).toBe(name)
  })

  test('where these tests write, there is none', () => {
    expect(networkFileSystemOf(temporaryDir())).toBeUndefined()
  })
})

describe('the service', () => {
  test.skipIf(!canInject)(
    titled('does not start on one: exit code 19, a line that says what to do, and nothing is written'),
    async () => {
      const dir = temporaryDir()
      // The system reports every directory as NFS.
      const run = await vidimus(dir, ['serve'], { PORT: '0' }, injecting('statfs', 'poke_exit=@arg2=6969000000000000'))
      expect([run.exitCode, run.stdout]).toEqual([19, ''])
      expect(run.stderr).toContain(`${dir} is on a network file system (NFS)`)
      expect(run.stderr).toContain('choose one on a disk of this machine with VIDIMUS_DATA_DIR')
      expect(readdirSync(dir)).toEqual([])
    },
  )
})
