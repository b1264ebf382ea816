import { useState } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { Field } from '../../kit/field.tsx'
import { useAction } from '../action.ts'
import { Problem } from '../parts/problem.tsx'
import { ForEditors, usePlace, useSession } from '../session.tsx'
import { useGoLiveWords } from './words.ts'

const PROPOSED_DAYS = '30'
const DAYS_MAX = 3650

/** Asked once, with a proposal. */
export function RetentionChoice({ onChosen }: { onChosen: () => void }) {
  const words = useGoLiveWords().retention
  const { call } = useSession()
  const { tenant } = usePlace()
  const [days, setDays] = useState(PROPOSED_DAYS)
  const isRight = /^\d{1,4}$/.test(days.trim()) && Number(days) <= DAYS_MAX
  const keep = useAction(async (retention_days: number | null) => {
    await call(`tenants/${tenant.id}`, { method: 'PUT', body: { retention_days } })
    onChosen()
  })
  return (
    <ForEditors>
      <form
        class="stack"
        onSubmit={event => {
          event.preventDefault()
          if (isRight) keep.run(Number(days))
        }}
      >
        <Field
          label={words.days}
          hint={words.hint}
          problem={!isRight && words.problem}
          inputMode="numeric"
          value={days}
          onText={setDays}
        />
        <Problem of={keep.problem} />
        <div class="row">
          <Button kind="primary" type="submit" busy={keep.isBusy} disabled={!isRight}>
            {words.keep(days.trim())}
          </Button>
          <Button disabled={keep.isBusy} onClick={() => keep.run(null)}>
            {words.forever}
          </Button>
        </div>
      </form>
    </ForEditors>
  )
}
