import { useState } from 'preact/hooks'
import type { ImportedSigning } from '../../../../dashboard/settings/installation/signing-schema.ts'
import { Field, TextArea } from '../../../kit/field.tsx'
import { FileButton } from '../../parts/file-button.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { useSession } from '../../session.tsx'
import { ShopChoice } from './registration.tsx'
import { useInstallationWords, usePapersWords } from './words.ts'

const DAY = /^\d{4}-\d\d-\d\d$/

type Props = { onClose: () => void; onImported: (signing: ImportedSigning) => void }

export function ImportSigningDialog({ onClose, onImported }: Props) {
  const words = useInstallationWords()
  const papers = usePapersWords()
  const { call } = useSession()
  const [chain, setChain] = useState('')
  const [key, setKey] = useState('')
  const [from, setFrom] = useState('')
  const [isNoDay, setIsNoDay] = useState(false)
  const [tenant, setTenant] = useState('')
  const install = async () => {
    const day = from.trim()
    if (day && !DAY.test(day)) return setIsNoDay(true)
    const body = {
      chain,
      ...(key.trim() && { key }),
      ...(day && { from: `${day}T00:00:00Z` }),
      ...(tenant && { tenant }),
    }
    onImported(await call<ImportedSigning>('signing', { method: 'POST', body }))
  }
  return (
    <FormDialog title={words.importTitle} intro={words.importMore} verb={words.importDo} onSubmit={install} onClose={onClose}>
      <TextArea
        label={words.chain}
        hint={words.chainHint}
        placeholder="-----BEGIN CERTIFICATE-----"
        required
        rows={6}
        value={chain}
        onText={setChain}
      />
      <FileButton accept=".pem,.crt,.cer" onText={setChain} />
      <TextArea label={words.importKey} hint={words.importKeyHint} autocomplete="off" rows={4} value={key} onText={setKey} />
      <Field
        label={papers.from}
        hint={papers.fromHint}
        problem={isNoDay && papers.fromProblem}
        placeholder="2026-12-31"
        autocomplete="off"
        value={from}
        onText={text => {
          setFrom(text)
          setIsNoDay(false)
        }}
      />
      <ShopChoice value={tenant} onChoose={setTenant} />
    </FormDialog>
  )
}
