import type { Overview as OverviewData } from '../../../dashboard/overview/schema.ts'
import { useData } from '../data.ts'
import { useFormat } from '../format.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { hrefTo, Link, useRoute } from '../route.tsx'
import { useMayChange, usePlace } from '../session.tsx'
import { useTemplates } from '../template-names.ts'
import { VerificationsEmpty } from '../verifications/empty.tsx'
import { VerificationTable } from '../verifications/table.tsx'
import { TryIt } from '../verifications/try-it.tsx'
import { AttentionList } from './attention.tsx'
import { FirstSteps } from './first-steps.tsx'
import { Numbers, rangeOf } from './numbers.tsx'
import { useOverviewWords } from './words.ts'

export function Overview() {
  const words = useOverviewWords()
  const { environment, inTenant } = usePlace()
  const mayChange = useMayChange()
  const data = useData<OverviewData>(inTenant(`overview?environment=${environment}&days=${rangeOf(useRoute())}`))
  return (
    <Page title={words.title} areActionsHeld={!data.value} actions={data.value?.first_steps?.tried !== false && <TryIt />}>
      <Loaded data={data}>
        {({ usage, recent, attention, numbers, first_steps: steps }) => (
          <>
            {steps && mayChange && <FirstSteps steps={steps} />}
            <AttentionList attention={attention} />
            {numbers.success_rate !== null && <Numbers numbers={numbers} />}
            {(recent.length > 0 || !steps || !mayChange) && <Recent recent={recent} />}
            <Quota usage={usage} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Quota({ usage: { verifications_created, daily_quota, remaining } }: Pick<OverviewData, 'usage'>) {
  const words = useOverviewWords()
  const { number } = useFormat()
  return (
    <p class="hint">
      {words.usedOf(number(verifications_created), number(daily_quota))}{' '}
      {remaining > 0 ? words.left(number(remaining)) : words.usedUp} {words.bothCount}
    </p>
  )
}

function Recent({ recent }: Pick<OverviewData, 'recent'>) {
  const words = useOverviewWords()
  const templates = useTemplates()
  return (
    <section class="stack">
      <div class="section-header row between">
        <h2>{words.recent}</h2>
        {recent.length > 0 && (
          <Link class="touch" href={hrefTo('verifications')}>
            {words.all}
          </Link>
        )}
      </div>
      {recent.length > 0 ? (
        <VerificationTable rows={recent} templates={templates} />
      ) : (
        <VerificationsEmpty title={words.emptyTitle}>{words.empty}</VerificationsEmpty>
      )}
    </section>
  )
}
