import { join } from 'node:path'
import { type Locked, packagesInside } from '../../src/cli/licences/parts.ts'

/** CycloneDX 1.6: what runs in the program, read off the lock file. What only develops or tests it is not in it. */
export async function billOfMaterials(root: string): Promise<object> {
  const manifest = await Bun.file(join(root, 'package.json')).json()
  const byId = new Map(
    packagesInside()
      .values()
      .map(locked => [locked[0], locked]),
  )
  const packages = [...byId.values()].sort(([a], [b]) => (a < b ? -1 : 1))
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
