import { useState } from 'preact/hooks'
import { Button } from '../../../kit/button.tsx'
import { Copy } from '../../../kit/copy.tsx'
import { Field } from '../../../kit/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { useSession } from '../../session.tsx'
import { ShopChoice } from './registration.tsx'
import { useInstallationWords, usePapersWords } from './words.ts'

/** A new key, and the request for its certificate. */
export function NewSigningKeyDialog({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const words = usePapersWords()
  const { csrName } = useInstallationWords()
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
      <p>{words.newKeyMade}</p>
      <Copy text={csr.trim()} label={csrName} />
      <div class="row end">
        <Button kind="primary" onClick={onClose}>
          {words.done}
        </Button>
      </div>
    </div>
  )
  return (
    <FormDialog
      title={words.newKey}
      intro={words.newKeyMore}
      verb={words.newKeyDo}
      onSubmit={make}
      onClose={onClose}
      result={result}
    >
      <Field
        label={words.subject}
        hint={words.subjectHint}
        autocomplete="off"
        maxLength={500}
        value={subject}
        onText={setSubject}
      />
      <ShopChoice value={tenant} onChoose={setTenant} />
    </FormDialog>
  )
}
