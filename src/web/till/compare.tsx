import { useEffect, useState } from 'preact/hooks'
import { Button } from '../shared/button.tsx'
import { Notice } from '../shared/notice.tsx'
import { useNow } from '../shared/time.tsx'
import { changeCheck } from './check.ts'
import { recordComparison } from './comparisons.ts'
import { Heading } from './heading.tsx'
import type { Check } from './memory.ts'
import { useTillWords } from './words.ts'

/** The photo leaves the screen after this time: nobody is comparing any more. */
const SHOWN_MS = 120_000

type Props = { check: Check; title: string /** Null if the browser cannot show it. */; picture: string | null }

/** The photo before the verdict: a face that nobody compared is no yes. */
export function Compare({ check, title, picture }: Props) {
  const words = useTillWords()
  const now = useNow(1000)
  const [isBroken, setIsBroken] = useState(picture === null)
  useEffect(() => {
    if (check.shownAt === undefined) changeCheck(check, { shownAt: Date.now() })
    else if (now - check.shownAt >= SHOWN_MS) changeCheck(check, { isPutAway: true })
  }, [now])
  return (
    <main class="compare">
      {picture !== null && !isBroken ? (
        <img src={picture} alt={words.photo} onError={() => setIsBroken(true)} />
      ) : (
        <Notice tone="wait">{words.photoNotShown}</Notice>
      )}
      <div class="beside">
        <div class="stack tight">
          <Heading text={words.compare} />
          <p class="secondary">{title}</p>
        </div>
        <Button large wide onClick={() => recordComparison(check, true)}>
          {words.samePerson}
        </Button>
        <Button large wide onClick={() => recordComparison(check, false)}>
          {words.otherPerson}
        </Button>
      </div>
    </main>
  )
}
