import { useState } from 'preact/hooks'
import type { GoLive } from '../../../dashboard/go-live/schema.ts'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { Check } from '../../kit/field.tsx'
import { useCommon } from '../../shared/language.ts'
import { useAction } from '../action.ts'
import { Problem } from '../parts/problem.tsx'
import { usePlace, useSession } from '../session.tsx'
import { useGoLiveWords } from './words.ts'

type Kind = GoLive['documents'][number]

const REGIONS = { eu: ['eu_age', 'eu_wallet'], us: ['us_licence'], ch: [], elsewhere: ['other'] } as const satisfies Record<
  string,
  readonly Kind[]
>

type Props = { chosen: readonly Kind[]; onChosen: (path: GoLive) => void; onCancel: (() => void) | undefined }

/** The first question. Without an answer there are no steps. */
export function ChooseDocuments({ chosen: before, onChosen, onCancel }: Props) {
  const words = useGoLiveWords()
  const common = useCommon()
  const { call } = useSession()
  const { inTenant } = usePlace()
  const [chosen, setChosen] = useState(before)
  const save = useAction(async () =>
    onChosen(await call<GoLive>(inTenant('go-live/path'), { method: 'PUT', body: { documents: chosen } })),
  )
  return (
    <Card title={words.question}>
      <p class="secondary">{words.questionMore}</p>
      <form class="stack" onSubmit={save.submit}>
        <div class="regions grid">
          {(Object.keys(REGIONS) as (keyof typeof REGIONS)[]).map(region => (
            <fieldset key={region} class="choices">
              <legend>{words.regions[region]}</legend>
              {region === 'ch' && <p class="hint">{words.swiss}</p>}
              {REGIONS[region].map(kind => (
                <Check
                  key={kind}
                  label={words.documents[kind].title}
                  hint={words.documents[kind].hint}
                  isChecked={chosen.includes(kind)}
                  onCheck={isIn => setChosen(isIn ? [...chosen, kind] : chosen.filter(each => each !== kind))}
                />
              ))}
            </fieldset>
          ))}
        </div>
        {chosen.length === 0 && <p class="hint">{words.missing}</p>}
        <Problem of={save.problem} />
        <div class="row">
          <Button kind="primary" type="submit" busy={save.isBusy} disabled={chosen.length === 0}>
            {words.show}
          </Button>
          {onCancel && <Button onClick={onCancel}>{common.cancel}</Button>}
        </div>
      </form>
    </Card>
  )
}
