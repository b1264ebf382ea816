// The files for several nodes: they parse, name only variables and commands that the program has, and keep their promises.
import { expect, test } from 'bun:test'
import { BlockList } from 'node:net'
import { join, resolve } from 'node:path'
import { parseDatabaseUrl } from '../src/db/database-url.ts'
import { VARIABLES } from '../src/variables.ts'
import { vidimus } from './helpers/command.ts'

const FOLDER = resolve(import.meta.dir, '../scripts/deploy')
const read = (name: string) => Bun.file(join(FOLDER, name)).text()
const isVariable = (name: string) => Object.hasOwn(VARIABLES, name)

async function commands(): Promise<string[]> {
  const { stdout } = await vidimus('unused', ['--help'])
  return [...stdout.matchAll(/^ {2}([a-z-]+) {2,}\S/gm)].map(([, name = '']) => name)
}

type Node = {
  command: string[]
  environment: Record<string, string>
  volumes: string[]
  secrets: string[]
  network_mode?: string
}
type Compose = {
  services: Record<
    string,
    Node & { image: string; environment: Record<string, string>; networks?: { default?: { ipv4_address: string } } }
  >
  volumes: Record<string, unknown>
  secrets: Record<string, unknown>
  networks: { default: { ipam: { config: { subnet?: string; ip_range?: string }[] } } }
}

const compose = async () => Bun.YAML.parse(await read('compose.yml')) as Compose

test('compose has two nodes of one image on one PostgreSQL with checksums, a volume and no network', async () => {
  const { services, volumes, secrets } = await compose()
  const { database, 'node-1': one, 'node-2': two } = services
  expect(database!.image).toBe('postgres:17')
  expect(database!.environment.POSTGRES_INITDB_ARGS).toContain('--data-checksums')
  expect(database!.volumes).toContain('database:/var/lib/postgresql/data')
  expect(database!.network_mode).toBe('none')
  expect(two!.environment).toEqual(one!.environment)
  for (const node of [one!, two!]) {
    expect(await commands()).toContain(node.command[0]!)
    expect(Object.keys(node.environment).filter(name => !isVariable(name))).toEqual([])
    expect(node.environment.VIDIMUS_MASTER_KEY_FILE).toBe('/run/secrets/master_key')
    expect(parseDatabaseUrl(node.environment.VIDIMUS_DATABASE_URL!).socket).toBe('/var/run/postgresql/.s.PGSQL.5432')
    expect(node.secrets.every(name => Object.hasOwn(secrets, name))).toBe(true)
    for (const volume of node.volumes) expect(Object.keys(volumes)).toContain(volume.split(':')[0]!)
  }
  const own = [one!, two!].map(node => node.volumes.find(volume => volume.endsWith(':/data')))
  expect(new Set(own).size).toBe(2)
})

test('the proxy of compose sends to both nodes, and sticks to none', async () => {
  const text = await read('nginx.conf')
  const nodes = [...text.matchAll(/^ {4}server ([\w-]+):3000/gm)].map(([, name]) => name)
  expect(nodes).toEqual(['node-1', 'node-2'])
  for (const name of nodes) expect(Object.keys((await compose()).services)).toContain(name!)
  expect(text).not.toMatch(/ip_hash|sticky|hash \$|non_idempotent/)
})

test('the address of the proxy that nodes trust is one that no other container is given', async () => {
  const { services, networks } = await compose()
  const address = services.proxy?.networks?.default?.ipv4_address ?? ''
  for (const name of ['node-1', 'node-2']) expect(services[name]?.environment.VIDIMUS_TRUSTED_PROXIES).toBe(address)
  const [{ subnet = '', ip_range = subnet } = {}] = networks.default.ipam.config
  const isIn = (cidr: string): boolean => {
    const list = new BlockList()
    const [network = '', prefix] = cidr.split('/')
    list.addSubnet(network, Number(prefix))
    return list.check(address)
  }
  // Containers that start before the proxy get the first addresses of the range.
  expect([isIn(subnet), isIn(ip_range)]).toEqual([true, false])
})

type Container = {
  args: string[]
  env: { name: string; valueFrom?: { secretKeyRef?: { name: string } } }[]
  envFrom: { configMapRef: { name: string } }[]
  readinessProbe?: { httpGet: { path: string } }
  lifecycle?: { preStop: { sleep: { seconds: number } } }
  volumeMounts: { name: string }[]
}
type Pod = {
  containers: Container[]
  volumes: { name: string; secret?: { defaultMode: number } }[]
  terminationGracePeriodSeconds: number
}
type Manifest = {
  kind: string
  metadata: { name: string }
  data: Record<string, string>
  spec: {
    replicas: number
    maxUnavailable: number
    sessionAffinity: string
    strategy: { rollingUpdate: { maxUnavailable: number } }
    template: { spec: Pod }
  }
}

const manifests = async () => Bun.YAML.parse(await read('kubernetes.yml')) as Manifest[]

test('the manifests name only variables and commands that exist, and mount what they declare', async () => {
  const all = await manifests()
  const settings = all.find(({ kind }) => kind === 'ConfigMap')!
  expect(Object.keys(settings.data).filter(name => !isVariable(name))).toEqual([])
  const pods = all.flatMap(({ spec }) => (spec?.template ? [spec.template.spec] : []))
  expect(pods).toHaveLength(2)
  for (const { containers, volumes } of pods) {
    const [container] = containers
    expect(await commands()).toContain(container!.args[0]!)
    expect(container!.env.map(({ name }) => name).filter(name => name !== 'POD_NAME' && !isVariable(name))).toEqual([])
    expect(container!.envFrom[0]!.configMapRef.name).toBe(settings.metadata.name)
    const declared = volumes.map(({ name }) => name)
    expect(container!.volumeMounts.map(({ name }) => name).filter(name => !declared.includes(name))).toEqual([])
    // Readable by the group of the pod, and by nobody else.
    expect(volumes.find(({ secret }) => secret)!.secret!.defaultMode).toBe(0o440)
  }
})

test('the deployment rolls without a gap, and only the job has the rights of the owner', async () => {
  const all = await manifests()
  const { spec } = all.find(({ kind }) => kind === 'Deployment')!
  const [node] = spec.template.spec.containers
  expect(spec.replicas).toBeGreaterThanOrEqual(2)
  expect(spec.strategy.rollingUpdate.maxUnavailable).toBe(0)
  expect(node!.readinessProbe!.httpGet.path).toBe('/readyz')
  expect(node!.lifecycle!.preStop.sleep.seconds).toBe(5)
  expect(spec.template.spec.terminationGracePeriodSeconds).toBe(30)
  expect(all.find(({ kind }) => kind === 'PodDisruptionBudget')!.spec.maxUnavailable).toBe(1)
  expect(all.find(({ kind }) => kind === 'Service')!.spec.sessionAffinity).toBe('None')
  const owners = all.flatMap(({ kind, spec: each }) =>
    each?.template?.spec.containers.some(({ env }) => env.some(({ name }) => name === 'VIDIMUS_DATABASE_OWNER_URL'))
      ? [kind]
      : [],
  )
  expect(owners).toEqual(['Job'])
})
