import { examine as find } from '../../src/doctor/examine.ts'
import { type Sayable, say } from '../../src/web/shared/finding-words.ts'
import * as de from '../../src/web/shared/strings/de.ts'
import * as en from '../../src/web/shared/strings/en.ts'

/** As people read it: the sentences of `vidimus doctor`, and the German ones of the dashboard. */
export const examine = async (...[deps, isServer, names]: Parameters<typeof find>) =>
  (await find(deps, isServer, names)).map(check => ({ ...check, ...say(en.findings, check), de: say(de.findings, check) }))

export type Check = Awaited<ReturnType<typeof examine>>[number]

export const sentencesOf = (notes: readonly Sayable[]): string[] => notes.map(note => say(en.findings, note).detail)
