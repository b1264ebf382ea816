import type { CheckedList, TrustPreset } from '../../../../../dashboard/settings/trust/schema.ts'
import { Field } from '../../../../kit/field.tsx'
import { Notice } from '../../../../kit/notice.tsx'
import { useClaimWords } from '../../../../shared/claims.ts'
import { useFormat } from '../../../format.ts'
import { Facts } from '../../../parts/facts.tsx'
import { Fingerprint } from '../fingerprint.tsx'
import { useTrustWords } from '../words.ts'
import { StepHeading } from './step-heading.tsx'

type List = NonNullable<CheckedList['list']>

/** The choice for a list whose entries count for nothing by themselves. */
export type Grants = { types: string; serviceType: string }

type Props = {
  list: List
  preset: TrustPreset | undefined
  asksTypes: boolean
  isMissing: boolean
  grants: Grants
  onGrant: (grants: Grants) => void
}

export function SeeList({ list, preset, asksTypes, isMissing, grants, onGrant }: Props) {
  const words = useTrustWords().addList
  return (
    <>
      <StepHeading>{words.steps[1]}</StepHeading>
      <ListFacts list={list} />
      <Signer list={list} preset={preset} />
      {asksTypes && (
        <>
          <Notice tone="wait">{words.nothing}</Notice>
          <Field
            label={words.types}
            hint={words.typesHint}
            problem={isMissing && words.typesProblem}
            autocomplete="off"
            value={grants.types}
            onText={types => onGrant({ ...grants, types })}
          />
          <Field
            label={words.serviceType}
            hint={words.serviceTypeHint}
            autocomplete="off"
            value={grants.serviceType}
            onText={serviceType => onGrant({ ...grants, serviceType })}
          />
        </>
      )}
    </>
  )
}

function ListFacts({ list }: { list: List }) {
  const words = useTrustWords()
  const { document } = useClaimWords()
  const { date, number } = useFormat()
  const { name, kind, territory, sequence, issued_at, next_update, entries, types } = list
  return (
    <Facts
      facts={[
        [words.addList.name, name],
        [words.addList.kind, words.addList.kinds[kind]],
        [words.addList.territory, territory],
        [words.lists.number, sequence === null ? null : number(sequence)],
        [words.lists.issued, date(issued_at)],
        [words.lists.next, next_update === null ? null : date(next_update)],
        [words.lists.issuers, number(entries)],
        [words.lists.types, types.map(each => `${document(each.type)} (${number(each.entries)})`).join(', ')],
      ]}
    />
  )
}

/** The one thing to compare, in groups of four. */
function Signer({ list: { signer }, preset }: Pick<Props, 'list' | 'preset'>) {
  const words = useTrustWords()
  const { date } = useFormat()
  const isCarried = preset?.pins.includes(signer.fingerprint)
  return (
    <section class="signer box stack tight" aria-label={words.addList.signer}>
      <p class="secondary">{words.addList.signer}</p>
      <p>{signer.subject}</p>
      <p class="hint">
        {words.addList.signerValid}: {words.validFromTo(date(signer.not_before), date(signer.not_after))}
      </p>
      <h4>{words.addList.fingerprint}</h4>
      <Fingerprint hex={signer.fingerprint} />
      <p>
        {words.addList.compareAt} {preset ? <span lang="en">{preset.compare_at}</span> : words.addList.compareOwn}
      </p>
      {isCarried && <Notice tone="ok">{words.addList.carried}</Notice>}
      {preset && preset.pins.length > 0 && !isCarried && <Notice tone="no">{words.addList.notCarried}</Notice>}
    </section>
  )
}
