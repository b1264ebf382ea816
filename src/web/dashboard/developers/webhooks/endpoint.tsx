import { useState } from 'preact/hooks'
import type { WebhookEndpoint } from '../../../../dashboard/developers/webhooks/schema.ts'
import { Button } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { Copy } from '../../../kit/copy.tsx'
import { Field } from '../../../kit/field.tsx'
import { ApiFailure } from '../../../shared/api.ts'
import { useCommon } from '../../../shared/language.ts'
import { useAction } from '../../action.ts'
import { useData } from '../../data.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { Saved } from '../../parts/saved.tsx'
import { ForEditors, useMayChange, usePlace, useSession } from '../../session.tsx'
import { useDashboardWords } from '../../words.ts'
import { TestEvent } from './test-event.tsx'
import { useWebhooksWords } from './words.ts'

/** The receiver of all verifications that name none themselves. */
export function WebhookEndpointCard() {
  const words = useWebhooksWords()
  const { environment, inTenant } = usePlace()
  const mayChange = useMayChange()
  const path = inTenant(`webhook-endpoint?environment=${environment}`)
  const data = useData<WebhookEndpoint>(path)
  return (
    <Card title={words.endpoint}>
      <p class="secondary">{words.endpointMore}</p>
      <Loaded data={data}>
        {known => (
          <>
            {!mayChange && <p>{known.webhook_url ?? '–'}</p>}
            <ForEditors>
              <Form path={path} known={known} onChange={data.set} />
              {known.webhook_url !== null && <TestEvent key={known.webhook_url} />}
            </ForEditors>
          </>
        )}
      </Loaded>
    </Card>
  )
}

type FormProps = { path: string; known: WebhookEndpoint; onChange: (changed: WebhookEndpoint) => void }

function Form({ path, known, onChange }: FormProps) {
  const words = useWebhooksWords()
  const all = useDashboardWords()
  const common = useCommon()
  const { call } = useSession()
  const current = known.webhook_url ?? ''
  const [url, setUrl] = useState(current)
  const [isSaved, setIsSaved] = useState(false)
  const change = useAction(async (webhook_url: string | null) => {
    setIsSaved(false)
    const changed = await call<WebhookEndpoint>(path, { method: 'PUT', body: { webhook_url } })
    onChange(changed)
    setUrl(changed.webhook_url ?? '')
    setIsSaved(true)
  })
  const isRefused = change.problem instanceof ApiFailure && change.problem.code === 'invalid_webhook_url'
  return (
    <form
      class="stack"
      onSubmit={event => {
        event.preventDefault()
        change.run(url.trim())
      }}
    >
      <Field
        label={words.endpointUrl}
        type="url"
        required
        maxLength={2048}
        placeholder="https://shop.example/hooks"
        value={url}
        problem={isRefused && all.problems.invalid_webhook_url}
        onText={text => {
          setUrl(text)
          change.clear()
        }}
      />
      {isRefused && <Copy text={listenLine(url.trim())} label={common.command} />}
      {!isRefused && <Saved action={change} isSaved={isSaved} />}
      <div class="row">
        <Button type="submit" busy={change.isBusy} disabled={url.trim() === current}>
          {all.save}
        </Button>
        {current && (
          <Button type="button" busy={change.isBusy} onClick={() => change.run(null)}>
            {words.endpointRemove}
          </Button>
        )}
      </div>
    </form>
  )
}

/** The command with the typed address, unless a shell would read more in it. */
const listenLine = (url: string): string =>
  `vidimus listen --forward ${/^https?:\/\/[\w.:/-]+$/.test(url) ? url : 'http://localhost:4000/hook'}`
