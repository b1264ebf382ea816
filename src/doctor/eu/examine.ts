// `vidimus doctor --profile eu`: the requests of the templates in use, judged clause by clause.
import { readTills } from '../../devices/read.ts'
import type { Yielding } from '../../ground.ts'
import { inTurns } from '../../http/turns.ts'
import { signingState } from '../../signing/certificate.ts'
import type { Owner } from '../../tenants/settings.ts'
import { readAccessAuthorities } from '../../trust/lists/sources.ts'
import { readLists } from '../../trust/status/refresh.ts'
import { countReturning } from '../../verifications/returning.ts'
import { readUsedTemplates } from '../../verifications/template-use.ts'
import type { Deps } from '../deps.ts'
import { readStatus } from '../registration-check.ts'
import { anchorsIn } from '../trust-checks.ts'
import { CLAUSES, type ClauseId, type Facts, type Scene } from './clauses.ts'
import { readDocRequests, readRequestObject } from './read.ts'
import { type Sample, sampleOf } from './request.ts'

const TEMPLATES_MAX = 20
const STATUSES_MAX = 10
const NAMES_MAX = 5
/** Where nothing is used yet: the template that Go live begins with. */
const FIRST_TEMPLATE = 'age_over_18'

export type ClauseRow = {
  id: ClauseId
  level: 'must' | 'should'
  status: 'pass' | 'fail' | 'not_applicable' | 'unknown'
  /** Templates, and by which way they ask; null where all are alike. */
  subject: string | null
  /** Codes, and values of the requests. */
  found: string[]
  sure: 'read' | 'second_hand'
}

/** By default of the templates that the shop uses. */
export const examineProfile = async (deps: Deps, owner: Owner, templates?: readonly string[]): Promise<ClauseRow[]> =>
  judge(deps, await collect(deps, owner, templates))

type Collected = { samples: readonly Sample[]; facts: Facts }

export async function collect(deps: Deps, owner: Owner, templates: readonly string[] = []): Promise<Collected> {
  const used = templates.length > 0 ? templates : (await readUsedTemplates(deps, owner.tenantId)).map(({ key }) => key)
  const keys = used.length > 0 ? used.slice(0, TEMPLATES_MAX) : [FIRST_TEMPLATE]
  const samples: Sample[] = []
  // The first twice: two sessions have nothing in common.
  for (const key of [...keys, ...keys.slice(0, 1)]) {
    await deps.turns.next()
    const sample = await sampleOf(deps, owner, key)
    if (sample) samples.push(sample)
  }
  return { samples, facts: await factsOf(deps, owner, samples) }
}

export async function judge({ turns }: Yielding, { samples, facts }: Collected): Promise<ClauseRow[]> {
  const read = await inTurns(turns, samples, sample => readSample(sample, facts))
  const scene = { facts, requests: read.flatMap(({ requests }) => requests), samples: read.map(({ asking }) => asking) }
  return (await inTurns(turns, Object.keys(CLAUSES) as ClauseId[], id => rowsOf(id, scene))).flat()
}

function readSample(sample: Sample, { isImported }: Facts): { requests: Scene['requests']; asking: Scene['samples'][number] } {
  const { template: subject, redirect, browser, annexC } = sample
  const first = { ...readRequestObject(redirect), subject, isRedirect: true, sample }
  const second =
    browser === undefined ? [] : [{ ...readRequestObject(browser), subject: `${subject} (dc_api)`, isRedirect: false, sample }]
  const documents = annexC ? readDocRequests(annexC) : []
  const access = isImported ? first.chain[0] : undefined
  return { requests: [first, ...second], asking: { ...sample, subject, documents, access, jwt: first.paper?.jwt } }
}

/** One for each thing that was found wrong, or one for all. */
function rowsOf(id: ClauseId, scene: Scene): ClauseRow[] {
  const { level, sure, judge: judgeAll } = CLAUSES[id]
  const row = { id, level, sure }
  const verdicts = judgeAll(scene).map(({ judgement: [holds, ...found], subject }) => ({
    status: holds === undefined ? ('unknown' as const) : holds ? ('pass' as const) : ('fail' as const),
    found: [...new Set(found.filter(each => typeof each === 'string'))],
    subject,
  }))
  if (verdicts.length === 0) return [{ ...row, status: 'not_applicable', subject: null, found: [] }]
  const wrong = verdicts.filter(({ status }) => status !== 'pass')
  const told = Map.groupBy(wrong.length > 0 ? wrong : verdicts, ({ status, found }) => JSON.stringify([status, found]))
  if (wrong.length === 0 && told.size > 1) return [{ ...row, status: 'pass', subject: null, found: [] }]
  return [...told.values()].map(alike => {
    const [{ status, found }] = alike as [(typeof verdicts)[number]]
    const subjects = [...new Set(alike.flatMap(({ subject }) => subject ?? []))]
    const isOfAll = alike.length === verdicts.length
    return { ...row, status, subject: isOfAll ? null : subjects.slice(0, NAMES_MAX).join(', '), found }
  })
}

async function factsOf(deps: Deps, owner: Owner, samples: readonly Sample[]): Promise<Facts> {
  const { publicUrl, trustRefresh, statusMaxAgeMs, dcApi, wallet } = deps.config
  const papers = samples.flatMap(({ redirect }) => readRequestObject(redirect).paper ?? [])
  const distinct = [...new Map(papers.map(paper => [paper.jwt, paper])).values()].slice(0, STATUSES_MAX)
  const statuses = distinct.map(async ({ jwt, status }) => [jwt, status ? await readStatus(deps, status) : 'valid'] as const)
  return {
    at: deps.wall(),
    isImported: (await signingState(deps, owner.tenantId)).authority === null,
    authorities: await readAccessAuthorities(deps),
    form: wallet.verifierInfoData,
    statuses: new Map(await Promise.all(statuses)),
    publicUrl,
    offersBrowsers: dcApi.mode !== 'off',
    readsInPerson: (await readTills(deps, owner)).some(
      ({ ways, revoked_at }) => revoked_at === undefined && ways.includes('in_person'),
    ),
    ...(await countReturning(deps, owner.tenantId)),
    anchors: (await anchorsIn(deps, owner.environment, deps.now())).filter(({ isUsable }) => isUsable),
    maxAgeMs: statusMaxAgeMs,
    hasLists: trustRefresh || (statusMaxAgeMs > 0 && (await readLists(deps)).length > 0),
  }
}
