import { join } from 'node:path'

type Locked = [id: string, registry: string, needs: { dependencies?: Names }, integrity: string]
type Names = Record<string, string>
type Lock = { packages: Record<string, Locked> }

/** CycloneDX 1.6: what runs in the program, read off the lock file. What only develops or tests it is not in it. */
export async function billOfMaterials(root: string): Promise<object> {
  const manifest = await Bun.file(join(root, 'package.json')).json()
  const lock = Bun.JSONC.parse(await Bun.file(join(root, 'bun.lock')).text()) as Lock
  const packages = closure(lock, Object.keys(manifest.dependencies))
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        name: manifest.name,
        version: manifest.version,
        licenses: [{ license: { id: manifest.license } }],
        'bom-ref': `${manifest.name}@${manifest.version}`,
      },
    },
    components: [
      {
        type: 'platform',
        name: 'bun',
        version: Bun.version,
        purl: `pkg:npm/bun@${Bun.version}`,
        'bom-ref': `bun@${Bun.version}`,
      },
      ...packages.map(component),
    ],
  }
}

/** A package inside another's folder is locked under both names, and found there first. */
function closure({ packages }: Lock, names: string[]): Locked[] {
  const found = new Map<string, Locked>()
  const visit = (name: string, within: string) => {
    const key = [`${within}/${name}`, name].find(each => packages[each])
    const locked = key === undefined ? undefined : packages[key]
    if (key === undefined || !locked || found.has(key)) return
    found.set(key, locked)
    // No optional ones: those are libraries of single systems, and stay outside.
    for (const each of Object.keys(locked[2].dependencies ?? {})) visit(each, key)
  }
  for (const name of names) visit(name, '')
  const byId = new Map([...found.values()].map(locked => [locked[0], locked]))
  return [...byId.values()].sort(([a], [b]) => (a < b ? -1 : 1))
}

function component([id, , , integrity]: Locked): object {
  const at = id.lastIndexOf('@')
  const [name, version] = [id.slice(0, at), id.slice(at + 1)]
  const [algorithm = '', digest = ''] = integrity.split('-', 2)
  return {
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    'bom-ref': id,
    hashes: [{ alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') }],
  }
}
