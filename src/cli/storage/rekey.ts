import { accessSync, constants, lstatSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Purpose } from '../../base/seal.ts'
import { loadConfig } from '../../config.ts'
import { refuseClosed } from '../../db/file-refusal.ts'
import { backupsFolder } from '../../db/files.ts'
import { realWorld } from '../../ground.ts'
import { rekey, type Signers } from '../../upkeep/rekey.ts'
import { defineCommand } from '../command.ts'
import { toggle } from '../flags.ts'
import { ACTOR, CommandError } from '../output.ts'
import { requireDatabase } from '../require-database.ts'

export const command = defineCommand(
  {
    summary: 'make a new master key',
    flags: { data: toggle('also make a new key for all data, and seal every row again') },
    about: `Makes a new master.key; the server must be stopped, on PostgreSQL every node. This does only
that: no row is written anew, the keys that rows are sealed under are wrapped by the new master key
instead of the old one. A master.key that is a link is refused.

With --data rows get a new key as well. New rows use it at once; the service seals all old ones
again in the background, continues after a stop or a kill, and drops the old key at the end:
"vidimus doctor" and the log show how far it is. From then on the old master.key with an old backup
opens nothing that was written since, even for somebody who also gets a new copy of the database.
It prints every use of the key beside rows; each has a new one. Nobody is signed out, recovery codes and
Idempotency-Keys stay good, but pages that are open must be loaded again, and pairing codes that wait
are void. Trust bundles are signed by a new key: accept its fingerprint where bundles go (--from). So
are audit checkpoints: exports made before are checked with the public key in them. Records of the
audit chain cannot change: those made before keep the names of their subjects.

The old key is gone afterwards. Backups that were made before can be read only with the old key, so
keep a copy of it for as long as you keep them, and make a new backup. Anybody who holds an old
backup and the old key can read that backup for ever.`,
    example: 'vidimus rekey --data && vidimus backup /mnt/safe/vidimus.db',
  },
  async ({ data }, { env }) => {
    const config = loadConfig(env)
    const { dataDir: dir, masterKey, database } = config
    const key = masterKey.file
    await requireDatabase(config)
    // The directory comes first: a key that lies elsewhere would not help.
    if (!database) refuseClosed(dir)
    refuseLink(key)
    refuseUnwritable(key)
    const { now, random } = realWorld()
    const { signers, oldBackups } = await rekey({ ...config, data, now: now(), random, actor: ACTOR })
    const turned = data ? [ROWS, ...Object.values(NAMES)] : []
    const old = oldBackups.length
      ? `${oldBackups.length} backups in ${backupsFolder(dir)} can be read only with a copy of the old key.`
      : 'Backups made before can be read only with the old key.'
    return {
      json: {
        key,
        data,
        turned,
        bundle_signer: data ? signers.bundle : null,
        audit_signer: data ? signers.audit : null,
        backups_of_old_key: oldBackups,
      },
      text: [
        `${key} is new: keep a copy of it somewhere else.`,
        data
          ? 'New rows use a new key. Start the service: it seals the old rows again, and "vidimus doctor" shows how far it is.'
          : 'Rows are sealed under the same key as before, which it wraps; --data replaces that too.',
        ...(data ? describeTurned(turned, signers) : []),
        old,
        database ? 'Next: give it to every node, and start them.' : 'Next: vidimus backup FILE',
      ].join('\n'),
    }
  },
)

const ROWS = 'rows: personal data, signing keys, webhook secrets, second factors'

const NAMES: Record<Purpose, string> = {
  'audit checkpoint': 'signatures of audit checkpoints',
  'audit subject': 'names on the audit chain, of what is made from now on',
  'dashboard account': 'counts of failed log-ins',
  'dashboard csrf': 'protection of open dashboard pages (CSRF)',
  'device replay': 'answers that a till may ask for again',
  'idempotency key': 'look-up of Idempotency-Keys, which stay good',
  'installation probe': 'proof to the own doctor',
  'known browser': 'browsers that logged in before, which count as new once',
  'metadata term': 'search by metadata, with each row that is sealed again',
  network: 'known networks and their budgets',
  'pairing code': 'pairing codes that wait',
  'passkey challenge': 'challenges of passkeys',
  'recovery code': 'recovery codes, which stay good',
  'trust bundle': 'signatures of trust bundles',
  'webhook receivers': 'order of webhooks to one receiver',
  'wrapping keys': "the installation's name in wrapping key files: the service makes a new one when it starts",
}

function describeTurned(turned: string[], { bundle, audit }: Signers): string[] {
  return [
    'New keys:',
    ...turned.map(use => `  ${use}`),
    `Trust bundles that were made before are signed by ${bundle.before}, new ones by ${bundle.after}: accept that with --from where they go.`,
    `Audit exports that were made before are signed by ${audit.before}, new ones by ${audit.after}: note that where you note heads.`,
  ]
}

/** The new key is written beside the old one; systemd and Kubernetes give keys in directories that cannot be written. */
function refuseUnwritable(keyFile: string): void {
  try {
    accessSync(dirname(keyFile), constants.W_OK)
  } catch {
    throw new CommandError(
      `${keyFile} is in a directory that this program cannot write; copy it to a file of your own, name that in VIDIMUS_MASTER_KEY_FILE, ` +
        'run this again, and give the new key to whatever provides it',
    )
  }
}

/** A new key in place of the link leaves the old one, and is lost when the link is made again. */
function refuseLink(keyFile: string): void {
  if (!lstatSync(keyFile, { throwIfNoEntry: false })?.isSymbolicLink()) return
  throw new CommandError(
    `${keyFile} is a link${targetOf(keyFile)}; put the key itself in its place, run this again, and then ` +
      'move the new key to where the link led',
  )
}

function targetOf(link: string): string {
  try {
    return ` to ${realpathSync(link)}`
  } catch {
    return ' that leads nowhere'
  }
}
