// The sandbox issuer and the own certificates of the service, made once for each address and time: eight certificates take 60 ms
// of processor time. Each directory seals them under its own root key. A start on a directory that a test names makes its own.
import { SEALED } from '../../src/db/sealed-columns.ts'
import type { Deps } from '../../src/deps.ts'
import { createIssuer } from '../../src/sandbox/issuer/issuer.ts'
import { saveSandbox } from '../../src/sandbox/store.ts'
import { issueOwnCertificates } from '../../src/signing/authority.ts'
import { hostOf, sealSigningKey, thumbprintClientId } from '../../src/signing/keys.ts'
import { insertSigningKey } from '../../src/signing/store.ts'

type Shared = { sandbox: ReturnType<typeof createIssuer>; own: ReturnType<typeof issueOwnCertificates> }

const made = new Map<string, Shared>()

export async function takeIssuers(deps: Deps): Promise<void> {
  const { sandbox, own } = issuersFor(deps)
  const sealed = deps.sealer.seal(SEALED.sandboxIssuer, JSON.stringify(await sandbox))
  const { authority, leaf } = await own
  const at = deps.now()
  const keys = [
    sealSigningKey(deps, { ...authority, at, role: 'authority', clientId: '' }),
    sealSigningKey(deps, { ...leaf, at, role: 'leaf', clientId: thumbprintClientId(leaf.der) }),
  ]
  await deps.write(async tx => {
    await saveSandbox(tx, sealed, undefined)
    for (const key of keys) await insertSigningKey(tx, key)
  })
}

function issuersFor({ config: { publicUrl }, now, random }: Deps): Shared {
  const name = `${now()} ${publicUrl}`
  const shared = made.get(name) ?? {
    sandbox: createIssuer({ publicUrl, now: now(), random }),
    own: issueOwnCertificates({ host: hostOf(publicUrl), at: now(), random }),
  }
  made.set(name, shared)
  return shared
}
