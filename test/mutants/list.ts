// One-line slips that would open a door: to other people's data, to proofs that prove nothing, to addresses inside. Each with
// the tests that must fail because of it. One list per room of src/.
import access from './access.ts'
import audit from './audit.ts'
import base from './base.ts'
import cli from './cli.ts'
import dashboard from './dashboard.ts'
import db from './db.ts'
import devices from './devices.ts'
import doctor from './doctor.ts'
import egress from './egress.ts'
import guesses from './guesses.ts'
import http from './http.ts'
import oidc from './oidc.ts'
import openid4vp from './openid4vp.ts'
import people from './people.ts'
import proximity from './proximity.ts'
import root from './root.ts'
import sdk from './sdk.ts'
import signing from './signing.ts'
import templates from './templates.ts'
import tenants from './tenants.ts'
import trust from './trust.ts'
import trustLists from './trust-lists.ts'
import verifications from './verifications.ts'
import web from './web.ts'
import webhooks from './webhooks.ts'

/**
 * Name; the declaration it is in (function, constant, method, or a whole file as `name.ts`); a pattern that occurs once in
 * there, white space aside; its replacement; the tests that must notice.
 */
export type Slip = [name: string, within: string, from: string | RegExp, to: string, ...tests: string[]]

export type Mutant = { name: string; room: string; within: string; from: string | RegExp; to: string; tests: string[] }

/** `root` is src/ without its folders. */
const ROOMS: Record<string, Slip[]> = {
  access,
  audit,
  base,
  cli,
  dashboard,
  db,
  devices,
  doctor,
  egress,
  guesses,
  http,
  oidc,
  openid4vp,
  people,
  proximity,
  root,
  sdk,
  signing,
  templates,
  tenants,
  trust,
  'trust-lists': trustLists,
  verifications,
  web,
  webhooks,
}

export const MUTANTS: Mutant[] = Object.entries(ROOMS).flatMap(([room, slips]) =>
  slips.map(([name, within, from, to, ...tests]) => ({
    name,
    room,
    within,
    from,
    to,
    tests: tests.map(test => `test/${test}.test.ts`),
  })),
)
