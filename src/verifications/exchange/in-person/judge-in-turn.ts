// A request of version 1.0 cannot say "or": the phone gets the whole list, and may answer more of it than one option needs.
import type { DcqlQuery } from '../../../openid4vp/dcql/dcql.ts'
import type { DeviceAnswer } from '../../../openid4vp/exchange/device-response.ts'
import type { Presented } from '../../../openid4vp/exchange/response.ts'
import type { Outcome } from '../answer.ts'

/** So many choices are judged: each costs signatures. */
const CHOICES_MAX = 50

type Presentations = Extract<DeviceAnswer, { kind: 'presentations' }>

/** The verdict, and how many documents were left out of it. */
export type Judged = { outcome: Outcome; dropped: number }

/**
 * Judges one choice of documents after another, in the order of the query: the first that holds is the answer, since the customer
 * could have shown it alone. None holds: the first tells why. Documents beyond the choice are dropped.
 */
export async function judgeInTurn(
  query: DcqlQuery,
  answer: Presentations,
  judge: (answer: Presentations) => Promise<Outcome>,
): Promise<Judged> {
  let first: Judged | undefined
  for (const presentations of choicesOf(query, answer.presentations)) {
    const outcome = await judge({ ...answer, presentations })
    const judged = { outcome, dropped: answer.documents - documentsIn(presentations).size }
    if (outcome.status === 'completed') return judged
    first ??= judged
  }
  return first!
}

/** A document may answer several queries. */
const documentsIn = (presentations: readonly Presented[]): ReadonlySet<string> =>
  new Set(presentations.map(({ presentation }) => presentation))

/** Documents for one complete option of each set; for none of an optional set, when all others were tried. */
function choicesOf({ credentials, credential_sets: sets }: DcqlQuery, all: readonly Presented[]): Presented[][] {
  const answered = new Set(all.map(({ query }) => query.id))
  let options: string[][] = [[]]
  for (const { options: offered, required = true } of sets ?? [{ options: [credentials.map(({ id }) => id)] }]) {
    const complete = offered.filter(option => option.every(id => answered.has(id)))
    const possible = required ? complete : [...complete, []]
    options = options.flatMap(begun => possible.map(option => [...begun, ...option])).slice(0, CHOICES_MAX)
  }
  const whole = options.filter(ids => ids.length > 0)
  return (whole.length > 0 ? whole : [[...answered]]).flatMap(ids => documentsFor(new Set(ids), all)).slice(0, CHOICES_MAX)
}

/** One document for each query, if possible one that answers no other; where several are wanted, all. */
function documentsFor(ids: ReadonlySet<string>, all: readonly Presented[]): Presented[][] {
  let choices: Presented[][] = [[]]
  for (const id of ids) {
    const answers = all.filter(({ query }) => query.id === id)
    const next = (begun: readonly Presented[]): Presented[][] => {
      if (answers[0]!.query.multiple) return [[...begun, ...answers]]
      const used = documentsIn(begun)
      const free = answers.filter(({ presentation }) => !used.has(presentation))
      return (free.length > 0 ? free : answers).map(answer => [...begun, answer])
    }
    choices = choices.flatMap(next).slice(0, CHOICES_MAX)
  }
  return choices
}
