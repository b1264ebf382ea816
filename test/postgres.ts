// `bun run test:postgres [FILE…]`: the tests that touch the database, on a PostgreSQL server of their own. Prints what
// it leaves out; `bun run test` has everything, on SQLite.
import { join, relative } from 'node:path'
import { helpersOf } from './fast.ts'
import { startCluster, stopClusters, whyNoCluster } from './helpers/cluster.ts'
import { ROOT, runTests } from './run.ts'

/** First match counts. A helper is one of test/helpers that the test imports, directly or not. */
const LEFT_OUT: { what: string; folders?: RegExp; helpers?: string[] }[] = [
  {
    what: 'pages and recipes, which see only the API',
    folders: /^(pages|recipes|readme|sdk)\b|^oidc\/(authlib|differential|openid-client)\./,
    helpers: ['browser.ts', 'recipe.ts'],
  },
  {
    what: 'documents of the API and the handbook, and HTTP itself, which see no rows',
    folders:
      /^(deploy|handbook\/\w+|http\/(docs|envelope|host|load|metrics-access|openapi|page-budgets|paths|slow-clients|timers))\./,
  },
  {
    what: 'verdicts on documents, which no row decides',
    folders:
      /^(sandbox\/documents|wallet\/(attacks|bounded-answers|dc-interop|dc-reader|interop|local-lists|mutations|oidf-modules|revoked-issuers|template-rules|unusual|whose-claims))\./,
  },
  { what: 'receivers of webhooks, as the sending thread meets them', folders: /^webhooks\/(destinations|faults|poster)\./ },
  { what: 'the protocol and its parsers', folders: /^(openid4vp|egress)\/|^fuzz\/(parsers|dcql)/ },
  {
    what: "SQLite's file: locks, backup, restore, space, upgrades, damage",
    folders:
      /^(db\/(data-dir|engine|migrate|network-files|writer)|upkeep\/(backup|before-first-release|owners|restore|rekey|rekey-data|schedule|space|upgrade)|flows\/(wal-cuts|kill-points))\./,
    helpers: ['next-version.ts', 'wal-cuts.ts', 'killed-acts.ts', 'damage.ts'],
  },
  {
    // Every function of their stores is called on both engines by db/stores.
    what: 'menus, log-in and lists of settings, whose statements are simple',
    folders:
      /^(cli\/(origin|trust-source|user)|dashboard\/(go-live|login|pages|second-factor|session|setup|webhooks)|http\/limits|signing\/schedule)\./,
  },
  { what: 'what doctor reads and says; postgres/doctor has what it says of the server', folders: /^doctor\// },
  {
    what: 'help, TLS and demo of the program, on its directory',
    folders: /^cli\/(command|demo|tls)\./,
  },
  { what: 'made-up traffic whose invariants are read from the file', folders: /^(fuzz|invariants|sim)\// },
  { what: 'tests of the tests and of the build', folders: /^(helpers|mutants|scripts)\/|^(fast|faults|imports)\./ },
]

/** Whoever imports one of these opens a database. */
const WITH_DATABASE = ['app.ts', 'program.ts', 'database.ts', 'cluster.ts']

export function whyNotOnPostgres(file: string): string | undefined {
  const helpers = helpersOf(join(import.meta.dir, file))
  const reason = LEFT_OUT.find(each => each.folders?.test(file) || each.helpers?.some(name => helpers.has(name)))?.what
  return reason ?? (WITH_DATABASE.some(name => helpers.has(name)) ? undefined : NO_DATABASE)
}

const NO_DATABASE = 'no database'

/** The tests make and drop hundreds of databases, so nothing is tidied up in them. */
const SETTINGS = ['max_connections = 800', "shared_buffers = '128MB'", 'autovacuum = off']

if (import.meta.main) process.exit(await main(process.argv.slice(2)))

async function main(wanted: string[]): Promise<number> {
  const missing = whyNoCluster()
  if (missing) {
    const banner = '='.repeat(100)
    process.stderr.write(`${banner}\nNOTHING WAS TESTED ON POSTGRESQL: ${missing}.\n${banner}\n`)
    return process.env.CI === 'true' ? 1 : 0
  }
  const files = [...new Bun.Glob('**/*.test.{ts,tsx}').scanSync({ cwd: import.meta.dir })].sort()
  const reasons = Map.groupBy(files, file => whyNotOnPostgres(file) ?? '')
  const chosen = wanted.length ? wanted : (reasons.get('') ?? []).map(file => `./${relative(ROOT, join(import.meta.dir, file))}`)
  const cluster = await startCluster({ settings: SETTINGS })
  const code = await runTests(chosen, { VIDIMUS_DATABASE_URL: cluster.url() })
  await stopClusters()
  const whys = [...LEFT_OUT.map(({ what }) => what), NO_DATABASE]
  const lines = whys.map(what => `  ${what}: ${reasons.get(what)?.length ?? 0} files`)
  process.stderr.write(`\nNot run on PostgreSQL (bun run test has them):\n${lines.join('\n')}\n`)
  return code
}
