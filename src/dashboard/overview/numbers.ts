import { readDevices } from '../../devices/read.ts'
import { templateOf } from '../../templates/forms.ts'
import type { Owner } from '../../tenants/settings.ts'
import { type Ends, KINDS, noEnds } from '../../usage/kinds.ts'
import { readNumbers } from '../../usage/numbers.ts'
import type { Numbers } from '../../usage/schema.ts'
import type { Deps } from '../deps.ts'

/** A shop looks at the ones it uses most. */
const SOURCES_MAX = 20

/** The numbers with the names of tills, and templates under one name each. */
export async function readNamedNumbers(deps: Deps, owner: Owner, days: string | undefined): Promise<Numbers> {
  const { templates, tills, ...numbers } = await readNumbers(deps, owner, days === undefined ? days : Number(days))
  const names = new Map((await readDevices(deps, owner)).map(({ id, name }) => [id, name]))
  return {
    ...numbers,
    by_template: mostFrequent(merged(templates)).map(([key, ends]) => ({ template: key || null, ...ends })),
    by_till: mostFrequent(tills).map(([id, ends]) => ({ till: id ? { id, name: names.get(id) ?? id } : null, ...ends })),
  }
}

/** A template was asked under any of its names. */
function merged(byName: ReadonlyMap<string, Ends>): Map<string, Ends> {
  const byTemplate = new Map<string, Ends>()
  for (const [name, ends] of byName) {
    const key = templateOf(name)
    const sum = byTemplate.get(key) ?? noEnds()
    for (const kind of KINDS) sum[kind] += ends[kind]
    byTemplate.set(key, sum)
  }
  return byTemplate
}

const mostFrequent = (all: ReadonlyMap<string, Ends>): [string, Ends][] =>
  [...all].toSorted(([one, a], [other, b]) => sumOf(b) - sumOf(a) || (one < other ? -1 : 1)).slice(0, SOURCES_MAX)

const sumOf = (ends: Ends): number => KINDS.reduce((sum, kind) => sum + ends[kind], 0)
