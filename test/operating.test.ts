// Files for operators name only metrics, variables, verbs, exit codes and paths that the program has.
import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { linkEntries } from '../src/audit/link.ts'
import { COUNTERS, HISTOGRAMS } from '../src/base/metrics.ts'
import { REFUSALS } from '../src/db/refusal.ts'
import { startUpkeep } from '../src/service/periodic.ts'
import { VARIABLES } from '../src/variables.ts'
import { cleanUp, createVerification, startApp, type TestApp, until } from './helpers/app.ts'
import { vidimus } from './helpers/cli.ts'
import { isOnPostgres } from './helpers/database.ts'
import { declined, receiveRaw, startAppFor, stopReceiving } from './helpers/receiver.ts'

afterAll(async () => {
  stopReceiving()
  await cleanUp()
})

const ROOT = resolve(import.meta.dir, '..')
const read = (path: string) => Bun.file(join(ROOT, path)).text()

const OF_FILE = [
  'vidimus_backup_age_seconds',
  'vidimus_ballast_held',
  'vidimus_database_bytes',
  'vidimus_disk_free_bytes',
  'vidimus_wal_bytes',
]
const OF_POSTGRES = [
  'vidimus_audit_unlinked',
  'vidimus_audit_unlinked_oldest_seconds',
  'vidimus_db_pool_busy',
  'vidimus_db_pool_waiting',
  'vidimus_nodes',
  'vidimus_clock_offset_seconds',
]

/** The last ones exist only with https, and on the other kind of database. */
const DECLARED = [
  ...Object.keys(COUNTERS),
  ...Object.keys(HISTOGRAMS),
  'vidimus_tls_certificate_seconds_left',
  ...(isOnPostgres ? OF_FILE : OF_POSTGRES),
]

/** Each metric with its label names; metrics without values yet have none. */
async function metricsOf(app: TestApp): Promise<Map<string, Set<string>>> {
  const stopUpkeep = startUpkeep(app.deps)
  const { text } = await app.call('GET', '/metrics')
  await stopUpkeep()
  const found = new Map<string, Set<string>>(DECLARED.map(name => [name, new Set()]))
  for (const [, name = ''] of text.matchAll(/^# TYPE (\S+) /gm)) found.set(name, found.get(name) ?? new Set())
  for (const [, sample = '', labels = ''] of text.matchAll(/^(\w+)(?:\{([^}]*)\})? \S+$/gm)) {
    const name = found.has(sample) ? sample : sample.replace(/_(bucket|sum|count)$/, '')
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) if (label !== 'le') found.get(name)?.add(label)
  }
  return found
}

const tableOf = (page: string) =>
  /## All metrics\n(.*?)\n## /s
    .exec(page)?.[1]
    ?.split('\n')
    .filter(line => line.startsWith('| `'))
    .map(line => line.split('|').map(cell => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)))
    .map(([, names = [], , labels = []]) => ({ names, labels })) ?? []

describe('the metrics', () => {
  test('/metrics has exactly the metrics of the table in the handbook, each with its help', async () => {
    const app = await startApp()
    const found = await metricsOf(app)
    const documented = tableOf(await read('src/handbook/pages/metrics.md')).flatMap(({ names }) => names)
    expect(documented.toSorted()).toEqual([...found.keys()].toSorted())
    const { text } = await app.call('GET', '/metrics')
    for (const [, name] of text.matchAll(/^# TYPE (\S+) /gm)) expect(text).toMatch(new RegExp(`^# HELP ${name} \\S.+\\.$`, 'm'))
  })

  test('metrics have only the labels of the table, and nothing of a tenant or a session', async () => {
    const app = await startApp()
    const shop = await app.tenant({ name: 'Corner shop' })
    const { id } = await createVerification(app, shop.key, { metadata: { order: 'canary-1001' } })
    await app.call('POST', `/wallet/response/${id}`, { body: {} })
    await app.call('DELETE', `/v1/verifications/${id}`, { key: shop.key })
    await app.call('GET', '/v1/usage', { key: 'vk_test_wrong' })
    const found = await metricsOf(app)
    const table = tableOf(await read('src/handbook/pages/metrics.md'))
    for (const { names, labels } of table) {
      for (const name of names)
        expect([name, [...(found.get(name) ?? [])].filter(label => !labels.includes(label))]).toEqual([name, []])
    }
    await linkEntries(app.deps)
    const { text } = await app.call('GET', '/metrics')
    expect(text).toContain('vidimus_http_refusals_total{code="invalid_api_key"} 1')
    expect(text).toContain('vidimus_verifications_total{event="erased",environment="test"} 1')
    expect(text).toMatch(/^vidimus_audit_records [1-9]\d*$/m)
    expect(text).toMatch(/^vidimus_commit_seconds_count [1-9]\d*$/m)
    for (const canary of [id, shop.id, shop.key, 'Corner', 'canary-1001', '127.0.0.1']) expect(text).not.toContain(canary)
  })

  test('vidimus_webhook_oldest_due_seconds is the time since the oldest webhook was due', async () => {
    const receiver = await receiveRaw()
    const app = await startAppFor([receiver])
    const { key } = await app.tenant()
    const due = async () => /^vidimus_webhook_oldest_due_seconds (\S+)$/m.exec((await app.call('GET', '/metrics')).text)?.[1]
    expect(await due()).toBe('0')
    await declined({ app, key }, receiver.url())
    await until(async () => receiver.open().length === 1)
    app.clock.advance(7000)
    await declined({ app, key }, receiver.url())
    expect(await due()).toBe('7')
  })
})

/** Metric names in an expression. */
const metricsIn = (text: string): string[] => [...text.matchAll(/\b(?:vidimus|process)_\w+/g)].map(([name]) => name)

describe('the alerts and the dashboard', () => {
  const isKnown = (known: Map<string, Set<string>>) => (name: string) =>
    known.has(name.replace(/_(bucket|sum|count)$/, '')) || known.has(name)

  test('alerts and dashboard use existing metrics, and every alert says what it means and what to do', async () => {
    type Rule = { alert: string; expr: string; annotations: { summary: string; action: string } }
    const { groups } = Bun.YAML.parse(await read('scripts/deploy/alerts.yml')) as { groups: { rules: Rule[] }[] }
    const rules = groups.flatMap(group => group.rules)
    const known = await metricsOf(await startApp())
    expect(rules.length).toBeGreaterThan(10)
    for (const { alert, expr, annotations } of rules) {
      expect([alert, metricsIn(expr).filter(name => !isKnown(known)(name))]).toEqual([alert, []])
      expect([alert, metricsIn(expr).length > 0 || expr.includes('up{')]).toEqual([alert, true])
      expect(annotations.summary.length).toBeGreaterThan(10)
      expect(annotations.action.length).toBeGreaterThan(10)
      const verbs = [...annotations.action.matchAll(/"vidimus ([a-z-]+)/g)].map(([, verb = '']) => verb)
      for (const verb of verbs) expect(await verbsOfProgram()).toContain(verb)
    }
  })

  test('the dashboard to import takes its data source from a variable', async () => {
    type Panel = { datasource: { uid: string }; targets: { expr: string }[] }
    const dashboard = JSON.parse(await read('scripts/deploy/grafana.json')) as {
      panels: Panel[]
      templating: { list: { name: string }[] }
    }
    const known = await metricsOf(await startApp())
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'instance'])
    expect(dashboard.panels.every(({ datasource }) => /^\$\{datasource\}$/.test(datasource.uid))).toBe(true)
    const named = metricsIn(JSON.stringify(dashboard))
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter(name => !isKnown(known)(name))).toEqual([])
  })
})

async function verbsOfProgram(): Promise<string[]> {
  const { stdout } = await vidimus('unused', ['--help'])
  return [...stdout.matchAll(/^ {2}([a-z-]+) {2,}\S/gm)].map(([, verb = '']) => verb)
}

describe('the systemd unit and the Dockerfile', () => {
  const variablesIn = (text: string): string[] => text.match(/\b(?:VIDIMUS_[A-Z_]+|HOST|PORT)(?==)/g) ?? []

  test('unit and Dockerfile name only existing variables, verbs and files', async () => {
    const [unit, dockerfile] = [await read('scripts/deploy/vidimus.service'), await read('scripts/deploy/Dockerfile')]
    for (const text of [unit, dockerfile]) {
      expect(variablesIn(text).length).toBeGreaterThan(0)
      expect(variablesIn(text).filter(name => !Object.hasOwn(VARIABLES, name))).toEqual([])
    }
    const verbs = await verbsOfProgram()
    expect(verbs).toContain(/^ExecStart=\S+\/vidimus (\S+)$/m.exec(unit)?.[1] ?? '')
    expect(verbs).toContain(/^CMD \["(\S+)"\]$/m.exec(dockerfile)?.[1] ?? '')
    for (const [verb] of unit.matchAll(/(?<=\bvidimus )[a-z-]+(?= list)/g)) expect(verbs).toContain(verb)
    for (const [path] of dockerfile.matchAll(/\bscripts\/[\w.-]+/g))
      expect([path, existsSync(join(ROOT, path))]).toEqual([path, true])
    expect(dockerfile).toContain(`oven/bun:${(await read('.bun-version')).trim()}-slim`)
  })

  test('unit and Dockerfile agree with the program on data directory, port and exit codes', async () => {
    const [unit, dockerfile] = [await read('scripts/deploy/vidimus.service'), await read('scripts/deploy/Dockerfile')]
    expect(unit).toContain('Environment=VIDIMUS_DATA_DIR=/var/lib/vidimus\n')
    expect(unit).toContain('StateDirectory=vidimus\n')
    expect(dockerfile).toContain('VIDIMUS_DATA_DIR=/data\nVOLUME /data\nEXPOSE 3000\n')
    expect(dockerfile).toMatch(/^USER \d+:\d+$/m)
    const refusals = Object.values(REFUSALS)
    const final = /^RestartPreventExitStatus=(.*)$/m.exec(unit)?.[1]?.split(' ').map(Number) ?? []
    // Another process on the directory ends, a database comes back, and a standby takes over.
    const passing = [REFUSALS.directory_in_use, REFUSALS.database_unreachable, REFUSALS.database_read_only]
    expect(refusals.filter(code => !final.includes(code))).toEqual(passing)
  })

  test('commands beside the unit have its user, directory and settings, and its directory is not closed to them', async () => {
    const unit = await read('scripts/deploy/vidimus.service')
    const settingOf = (name: string): string | undefined => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1]
    // The state of a dynamic user lies below a directory that nobody else may enter, so no command would find it.
    expect(settingOf('DynamicUser')).toBeUndefined()
    expect(unit).toMatch(new RegExp(`^#   useradd --system .*\\b${settingOf('User')}$`, 'm'))
    const texts = [unit, await read('src/handbook/pages/install.md'), await read('src/handbook/pages/doctor.md')]
    for (const text of texts) {
      const call = /systemd-run --(?:.*\\\n)*.*/.exec(text)?.[0].replaceAll(/\\\n#?/g, ' ') ?? ''
      expect(call).toContain(` --uid=${settingOf('User')} `)
      expect(call).toContain(` -p EnvironmentFile=${settingOf('EnvironmentFile')} `)
      expect(call).toContain(` -E ${settingOf('Environment')} `)
    }
    expect(texts[1]).toContain(/^# {3}(useradd .*)$/m.exec(unit)?.[1] ?? 'no user')
  })
})
