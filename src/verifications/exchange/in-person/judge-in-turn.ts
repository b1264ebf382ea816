// A request of version 1.0 cannot say "or": the phone gets the whole list, and may answer more of it than one option needs.
import type { DcqlQuery } from '../../../openid4vp/dcql/dcql.ts'
import type { DeviceAnswer } from '../../../openid4vp/exchange/device-response.ts'
import type { Outcome } from '../answer.ts'

/** So many choices are judged: each costs signatures. */
const CHOICES_MAX = 50

type Presentations = Extract<DeviceAnswer, { kind: 'presentations' }>

/** The verdict, and how many documents were left out of it. */
export type Judged = { outcome: Outcome; dropped: number }

/**
 * Judges one choice of options after another, in the order of the query: the first that holds is the answer, since the customer
 * could have shown it alone. None holds: the first tells why. Documents beyond the choice are dropped.
 */
export async function judgeInTurn(
  query: DcqlQuery,
  answer: Presentations,
  judge: (answer: Presentations) => Promise<Outcome>,
): Promise<Judged> {
  let first: Judged | undefined
  for (const ids of choicesOf(query, new Set(answer.presentations.map(each => each.query.id)))) {
    const presentations = answer.presentations.filter(each => ids.has(each.query.id))
    const outcome = await judge({ ...answer, presentations })
    const judged = { outcome, dropped: documentsIn(answer) - documentsIn({ presentations }) }
    if (outcome.status === 'completed') return judged
    first ??= judged
  }
  return first ?? { outcome: await judge(answer), dropped: 0 }
}

/** A document may answer several queries. */
const documentsIn = ({ presentations }: Pick<Presentations, 'presentations'>): number =>
  new Set(presentations.map(({ presentation }) => presentation)).size

/** One complete option of each set; none of an optional set, when all others were tried. */
function choicesOf({ credentials, credential_sets: sets }: DcqlQuery, answered: ReadonlySet<string>): ReadonlySet<string>[] {
  let choices: string[][] = [[]]
  for (const { options, required = true } of sets ?? [{ options: [credentials.map(({ id }) => id)] }]) {
    const complete = options.filter(option => option.every(id => answered.has(id)))
    const possible = required ? complete : [...complete, []]
    choices = choices.flatMap(begun => possible.map(option => [...begun, ...option])).slice(0, CHOICES_MAX)
  }
  return choices.filter(ids => ids.length > 0).map(ids => new Set(ids))
}
