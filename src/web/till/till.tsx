import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Till } from '../../devices/schema.ts'
import type { ApiFailure } from '../shared/api.ts'
import { Bar } from './bar.tsx'
import { useOpening } from './check/check.ts'
import { Ongoing } from './check/ongoing.tsx'
import { Headline, type HeadlineText } from './headline.ts'
import { Idle } from './idle.tsx'
import { useKept } from './memory.ts'
import { Pair } from './pair/pair.tsx'
import { usePairingCode } from './pair/pairing-code.ts'
import { useTitle } from './title.ts'
import { Top } from './top.tsx'
import { useTill } from './use-till.ts'
import { useWakeLock } from './use-wake-lock.ts'
import { useTillWords } from './words.ts'

/** The cashier's page. All its state is in memory.ts, so that a reload shows the same view. */
export function TillPage() {
  const words = useTillWords()
  const till = useTill()
  const [headline, setHeadline] = useState<HeadlineText>({ text: '', isAloud: false })
  useWakeLock()
  useEffect(() => {
    document.title = [headline.text, till?.name ?? words.title].filter(Boolean).join(' · ')
  }, [headline.text, till?.name, words])
  return (
    <Headline.Provider value={setHeadline}>
      <div class="till">
        <Top till={till} />
        {/* For screen readers, where no focus change says it. */}
        <p class="only-heard" role="status" aria-live="assertive">
          {headline.isAloud && headline.text}
        </p>
        <View till={till} />
        <Bar />
      </div>
    </Headline.Provider>
  )
}

function View({ till }: { till: Till | undefined }): ComponentChildren {
  const isPaired = useKept('tokens') !== undefined
  const check = useKept('check')
  const isPairing = useKept('pairing') !== undefined
  const [code, forgetCode] = usePairingCode()
  const [refusal, setRefusal] = useState<ApiFailure>()
  const [openedAt] = useState(Date.now)
  const title = useTitle(till)
  useOpening(isPaired ? check : undefined, setRefusal)
  useEffect(() => {
    if (check) setRefusal(undefined)
  }, [check?.key])
  if (!isPaired || isPairing || code !== undefined)
    return <Pair key={code} code={code} name={isPaired ? till?.name : undefined} onDone={forgetCode} />
  if (!check || check.isPutAway) return <Idle till={till} last={check} refusal={refusal} />
  const template = till?.templates.find(({ key }) => key === check.template)
  return <Ongoing key={check.key} check={check} title={title(check.template)} template={template} openedAt={openedAt} />
}
