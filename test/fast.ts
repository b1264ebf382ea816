// `bun run test:fast`: the tests for every save. Prints what it leaves out; `bun run test` runs everything.
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { ROOT, runTests } from './run.ts'

/** Each of these takes about two seconds of processor time or more, or waits as long, for a part that seldom changes. */
const LONG =
  /^(api\/damaged-session|dashboard\/(filters|go-live|login|pages|second-factor|setup|trust-lists|webhooks)|devices\/guessing|doctor\/(examine|trust-lists)|egress\/(extra-ca|hostile)|http\/(page-budgets|rate-limit|slow-clients)|oidc\/(apache|authlib|differential)|sandbox\/(installed-issuer|templates)|session-keys\/kept-everything|signing\/schedule|trust\/(accept|bundle|hostile|refresh|sources)|trust-lists\/(libxml2|real-xml)|wallet\/(attacks|dc-answers|listed-issuers|mutations)|webhooks\/(delivery|delivery-log|endpoint|erase|fairness|faults|rotation|worker))\./

/** First match counts. A helper is one of test/helpers that the test imports, directly or not. */
const LEFT_OUT: { what: string; folders?: RegExp; helpers?: string[] }[] = [
  { what: 'recipes', folders: /^(recipes|readme)\b/, helpers: ['recipe.ts'] },
  { what: 'pages in a browser', helpers: ['browser.ts'] },
  { what: 'processes, upgrades and kills', folders: /^(db|scripts|sdk|upkeep)\//, helpers: ['program.ts', 'next-version.ts'] },
  { what: 'made-up traffic and long races', folders: /^(flows|fuzz|invariants|sim)\// },
  { what: 'long waits and many rounds', folders: LONG },
  { what: 'tests of the tests', folders: /^(helpers|mutants)\// },
]

export function whyLeftOut(file: string): string | undefined {
  const helpers = helpersOf(join(ROOT, 'test', file))
  return LEFT_OUT.find(each => each.folders?.test(file) || each.helpers?.some(name => helpers.has(name)))?.what
}

export function helpersOf(file: string, seen = new Set<string>()): Set<string> {
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g)) {
    const imported = resolve(dirname(file), path)
    if (!imported.startsWith(import.meta.dir) || seen.has(basename(imported)) || !existsSync(imported)) continue
    seen.add(basename(imported))
    helpersOf(imported, seen)
  }
  return seen
}

if (import.meta.main) {
  const files = [...new Bun.Glob('**/*.test.{ts,tsx}').scanSync({ cwd: import.meta.dir })].sort()
  const reasons = Map.groupBy(files, file => whyLeftOut(file) ?? '')
  const chosen = (reasons.get('') ?? []).map(file => `./${relative(ROOT, join(import.meta.dir, file))}`)
  const code = await runTests(chosen)
  const lines = LEFT_OUT.map(({ what }) => `  ${what}: ${reasons.get(what)?.length ?? 0} files`)
  process.stderr.write(`\nLeft out (bun run test has them):\n${lines.join('\n')}\n`)
  process.exit(code)
}
