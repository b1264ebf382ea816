import { useState } from 'preact/hooks'
import type { TryVerification } from '../../../dashboard/verification-schema.ts'
import type { Verification } from '../../../verifications/schema.ts'
import { Button } from '../../shared/button.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Field, Select } from '../../shared/field.tsx'
import { Icon } from '../../shared/icons.tsx'
import { useCommon, useLanguage } from '../../shared/language.tsx'
import { useAction } from '../action.ts'
import { Loaded } from '../loaded.tsx'
import { Problem } from '../problem.tsx'
import { goTo, hrefTo } from '../route.tsx'
import { usePlace, useSession } from '../session.tsx'
import { useTemplates } from '../template-names.ts'
import { useDashboardWords } from '../words.ts'

const FIRST_TEMPLATE = 'age_over_18'

type Props = { template?: string /** Asks for the address of a receiver too. */; webhook?: boolean }

/** Makes a test session and goes to its page, where it can be answered. */
export function TryIt({ template = FIRST_TEMPLATE, webhook = false }: Props) {
  const words = useDashboardWords()
  const { environment } = usePlace()
  const [isOpen, setIsOpen] = useState(false)
  // In Live nothing is tried out: there are no live sessions without a live key.
  if (environment !== 'test') return null
  return (
    <>
      <Button kind="primary" onClick={() => setIsOpen(true)}>
        <Icon name={webhook ? 'hook' : 'wallet'} />
        {webhook ? words.webhooks.test : words.verifications.tryIt}
      </Button>
      {isOpen && <TryDialog first={template} webhook={webhook} onClose={() => setIsOpen(false)} />}
    </>
  )
}

type DialogProps = { first: string; webhook: boolean; onClose: () => void }

function TryDialog({ first, webhook, onClose }: DialogProps) {
  const words = useDashboardWords()
  const common = useCommon()
  const { call } = useSession()
  const { inTenant } = usePlace()
  const [template, setTemplate] = useState(first)
  const [purpose, setPurpose] = useState('')
  const [url, setUrl] = useState('')
  const start = useAction(async () => {
    const body: TryVerification = {
      template,
      ...(purpose.trim() && { purpose: purpose.trim() }),
      ...(webhook && { webhook_url: url.trim() }),
    }
    const { id } = await call<Verification>(inTenant('verifications'), { method: 'POST', body })
    onClose()
    goTo(hrefTo(`verifications/${id}`))
  })
  return (
    <Dialog title={webhook ? words.webhooks.testTitle : words.verifications.tryTitle} onClose={onClose}>
      <form class="stack" onSubmit={start.submit}>
        <p class="secondary">{webhook ? words.webhooks.testMore : words.verifications.tryMore}</p>
        {webhook && (
          <Field
            label={words.webhooks.url}
            type="url"
            placeholder="https://shop.example/hooks"
            required
            autofocus
            maxLength={2048}
            value={url}
            onInput={event => setUrl(event.currentTarget.value)}
          />
        )}
        <TemplateChoice template={template} onChoose={setTemplate} />
        {!webhook && (
          <Field
            label={words.verifications.purpose}
            hint={words.verifications.purposeHint}
            maxLength={300}
            value={purpose}
            onInput={event => setPurpose(event.currentTarget.value)}
          />
        )}
        <Problem of={start.problem} />
        <div class="row end">
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind="primary" type="submit" busy={start.isBusy}>
            {words.verifications.start}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function TemplateChoice({ template, onChoose }: { template: string; onChoose: (key: string) => void }) {
  const words = useDashboardWords().verifications
  const language = useLanguage()
  const templates = useTemplates()
  return (
    <Loaded data={templates}>
      {({ data }) => (
        <Select label={words.template} value={template} onChange={event => onChoose(event.currentTarget.value)}>
          {data.map(({ key, title }) => (
            <option key={key} value={key}>
              {title[language]}
            </option>
          ))}
        </Select>
      )}
    </Loaded>
  )
}
