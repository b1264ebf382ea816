import { useState } from 'preact/hooks'
import type { WebhookSecret, WebhookSecretState } from '../../../../dashboard/developers/webhooks/schema.ts'
import { Button } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { Copy } from '../../../kit/copy.tsx'
import { Notice } from '../../../kit/notice.tsx'
import { useAction } from '../../action.ts'
import { useData } from '../../data.ts'
import { useFormat } from '../../format.ts'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { ForEditors, useMayChange, usePlace, useSession } from '../../session.tsx'
import { useWebhooksWords } from './words.ts'

type State = typeof WebhookSecretState.static

/** The secret with which a receiver checks that this service sent an event. */
export function WebhookSecretCard() {
  const words = useWebhooksWords()
  const { call } = useSession()
  const { environment, inTenant } = usePlace()
  const { time } = useFormat()
  const mayChange = useMayChange()
  const data = useData<State>(inTenant(`webhook-secret?environment=${environment}`))
  const [secret, setSecret] = useState<string>()
  const post = async (act: string) => {
    const answer = await call<State & Partial<WebhookSecret>>(inTenant(`webhook-secret/${act}?environment=${environment}`), {
      method: 'POST',
    })
    data.set({ created_at: answer.created_at, previous_valid_until: answer.previous_valid_until })
    setSecret(answer.webhook_secret)
  }
  const reveal = useAction(() => post('reveal'))
  const drop = useAction(() => post('drop-previous'))
  return (
    <Card title={words.secret}>
      <p class="secondary">{words.secretMore[environment]}</p>
      <Loaded data={data}>
        {({ created_at, previous_valid_until }) => (
          <>
            {secret && <Copy text={secret} label={words.secretName} wraps />}
            <p class="hint">{words.since(time(created_at))}</p>
            {mayChange && previous_valid_until && (
              <Notice tone="wait">
                <div class="stack tight">
                  <p>{words.overlap(time(previous_valid_until))}</p>
                  <p class="hint">{words.overlapMore}</p>
                  <div>
                    <Button busy={drop.isBusy} onClick={() => drop.run()}>
                      {words.overlapDo}
                    </Button>
                  </div>
                </div>
              </Notice>
            )}
            <Problem of={reveal.problem ?? drop.problem} />
            <ForEditors>
              <div class="row">
                {secret ? (
                  <Button onClick={() => setSecret(undefined)}>{words.hide}</Button>
                ) : (
                  <Button busy={reveal.isBusy} onClick={() => reveal.run()}>
                    {words.reveal}
                  </Button>
                )}
                <ConfirmButton
                  label={words.rotate}
                  title={words.rotateTitle}
                  verb={words.rotateDo}
                  onConfirm={() => post('rotate')}
                >
                  {words.rotateMore}
                </ConfirmButton>
              </div>
            </ForEditors>
          </>
        )}
      </Loaded>
    </Card>
  )
}
