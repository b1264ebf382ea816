import { useState } from 'preact/hooks'
import { Button } from '../../../kit/button.tsx'
import { Copy } from '../../../kit/copy.tsx'
import { Field } from '../../../kit/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { useSession } from '../../session.tsx'
import { useDashboardWords } from '../../words.ts'
import { ShopChoice } from './registration.tsx'

/** A new key, and the request for its certificate. */
export function NewSigningKeyDialog({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const words = useDashboardWords()
  const { call } = useSession()
  const [subject, setSubject] = useState('')
  const [tenant, setTenant] = useState('')
  const [csr, setCsr] = useState<string>()
  const make = async () => {
    const body = { ...(subject.trim() && { subject: subject.trim() }), ...(tenant && { tenant }) }
    setCsr((await call<{ csr: string }>('signing/csr', { method: 'POST', body })).csr)
    onMade()
  }
  const result = csr && (
    <div class="stack">
      <p>{words.papers.newKeyMade}</p>
      <Copy text={csr.trim()} label={words.settings.csrName} />
      <div class="row end">
        <Button kind="primary" onClick={onClose}>
          {words.papers.done}
        </Button>
      </div>
    </div>
  )
  return (
    <FormDialog
      title={words.papers.newKey}
      intro={words.papers.newKeyMore}
      verb={words.papers.newKeyDo}
      onSubmit={make}
      onClose={onClose}
      result={result}
    >
      <Field
        label={words.papers.subject}
        hint={words.papers.subjectHint}
        autocomplete="off"
        maxLength={500}
        value={subject}
        onText={setSubject}
      />
      <ShopChoice value={tenant} onChoose={setTenant} />
    </FormDialog>
  )
}
