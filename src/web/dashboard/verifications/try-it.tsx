import { useState } from 'preact/hooks'
import type { TryVerification } from '../../../dashboard/verifications/schema.ts'
import type { Verification } from '../../../verifications/schema.ts'
import type { Format } from '../../../words/templates.ts'
import { Button } from '../../kit/button.tsx'
import { Field } from '../../kit/field.tsx'
import { Icon } from '../../kit/icons.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { FormatSelect } from '../parts/format-choice.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { TemplateSelect } from '../parts/template-menu.tsx'
import { goTo, hrefTo } from '../route.tsx'
import { useMayChange, usePlace, useSession } from '../session.tsx'
import { findNamed, useTemplates } from '../template-names.ts'
import { useDashboardWords } from '../words.ts'
import { useVerificationsWords } from './words.ts'

const FIRST_TEMPLATE = 'age_over_18'

/** Creates a test session and opens its page, where it can be answered. */
export function TryIt({ template = FIRST_TEMPLATE }: { template?: string }) {
  const words = useVerificationsWords()
  const { environment } = usePlace()
  const [isOpen, setIsOpen] = useState(false)
  const mayChange = useMayChange()
  // Not in Live: a live session needs a live key.
  if (environment !== 'test' || !mayChange) return null
  return (
    <>
      <Button kind="primary" onClick={() => setIsOpen(true)}>
        <Icon name="wallet" />
        {words.tryIt}
      </Button>
      {isOpen && <TryDialog first={template} onClose={() => setIsOpen(false)} />}
    </>
  )
}

function TryDialog({ first, onClose }: { first: string; onClose: () => void }) {
  const words = useVerificationsWords()
  const { formats } = useDashboardWords()
  const { call } = useSession()
  const { inTenant } = usePlace()
  const templates = useTemplates()
  const [template, setTemplate] = useState(first)
  const [format, setFormat] = useState<Format>()
  const [purpose, setPurpose] = useState('')
  const hasBoth = (findNamed(templates.value?.data, template)?.template.formats.length ?? 0) > 1
  const start = async () => {
    const body: TryVerification = {
      template,
      ...(format && hasBoth && { formats: [format] }),
      ...(purpose.trim() && { purpose: purpose.trim() }),
    }
    const { id } = await call<Verification>(inTenant('verifications'), { method: 'POST', body })
    onClose()
    goTo(hrefTo(`verifications/${id}`))
  }
  return (
    <FormDialog title={words.tryTitle} intro={words.tryMore} verb={words.start} onSubmit={start} onClose={onClose}>
      <Loaded data={templates}>
        {({ data }) => <TemplateSelect label={words.template} templates={data} value={template} onChoose={setTemplate} />}
      </Loaded>
      {hasBoth && <FormatSelect label={formats} format={format} onChoose={setFormat} />}
      <Field label={words.purpose} hint={words.purposeHint} maxLength={300} value={purpose} onText={setPurpose} />
    </FormDialog>
  )
}
