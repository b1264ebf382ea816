import { examine as find } from '../../src/doctor/examine.ts'
import * as de from '../../src/web/shared/findings/de.ts'
import * as en from '../../src/web/shared/findings/en.ts'
import { type Sayable, say } from '../../src/web/shared/findings/say.ts'

/** As people read it: the sentences of `vidimus doctor`, and the German ones of the dashboard. */
export const examine = async (...[deps, isServer, names]: Parameters<typeof find>) =>
  (await find(deps, isServer, names)).map(check => ({ ...check, ...say(en.findings, check), de: say(de.findings, check) }))

export type Check = Awaited<ReturnType<typeof examine>>[number]

export const sentencesOf = (notes: readonly Sayable[]): string[] => notes.map(note => say(en.findings, note).detail)
