import { useState } from 'preact/hooks'
import type { TestDelivery } from '../../../../dashboard/developers/webhooks/schema.ts'
import { Button } from '../../../kit/button.tsx'
import { Icon } from '../../../kit/icons.tsx'
import { Notice } from '../../../kit/notice.tsx'
import { useAction } from '../../action.ts'
import { useFormat } from '../../format.ts'
import { Raw } from '../../parts/json.tsx'
import { Problem } from '../../parts/problem.tsx'
import { usePlace, useSession } from '../../session.tsx'
import { useWebhooksWords } from './words.ts'

/** Sends an event that is no result to the endpoint, and shows how it answers. */
export function TestEvent() {
  const words = useWebhooksWords()
  const { call } = useSession()
  const { environment, inTenant } = usePlace()
  const [delivery, setDelivery] = useState<TestDelivery>()
  const send = useAction(async () => {
    setDelivery(undefined)
    setDelivery(await call<TestDelivery>(inTenant(`webhook-endpoint/test?environment=${environment}`), { method: 'POST' }))
  })
  return (
    <section class="stack tight">
      <div>
        <Button busy={send.isBusy} onClick={() => send.run()}>
          <Icon name="hook" />
          {words.test}
        </Button>
      </div>
      <p class="hint">{words.testMore}</p>
      <Problem of={send.problem} />
      <div role="status">{delivery && <Answer delivery={delivery} />}</div>
    </section>
  )
}

function Answer({ delivery: { outcome, http_status, duration_ms, answer, detail } }: { delivery: TestDelivery }) {
  const words = useWebhooksWords()
  const { duration } = useFormat()
  const said = [words.outcomes[outcome], http_status !== null && words.answered(http_status), words.took(duration(duration_ms))]
  return (
    <Notice tone={outcome === 'delivered' ? 'ok' : 'no'}>
      <div class="stack tight">
        <p>{said.filter(Boolean).join(' · ')}</p>
        {detail && <p class="hint">{detail}</p>}
        {answer && <Raw label={words.answer} text={answer} />}
      </div>
    </Notice>
  )
}
