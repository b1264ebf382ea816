import { useState } from 'preact/hooks'
import type { ImportedSigning } from '../../../dashboard/signing-schema.ts'
import { TextArea } from '../../shared/field.tsx'
import { FileButton } from '../file-button.tsx'
import { FormDialog } from '../form-dialog.tsx'
import { useSession } from '../session.tsx'
import { useDashboardWords } from '../words.ts'

type Props = { onClose: () => void; onImported: (signing: ImportedSigning) => void }

export function ImportSigningDialog({ onClose, onImported }: Props) {
  const words = useDashboardWords().settings
  const { call } = useSession()
  const [chain, setChain] = useState('')
  const [key, setKey] = useState('')
  const install = async () =>
    onImported(await call<ImportedSigning>('signing', { method: 'POST', body: { chain, ...(key.trim() && { key }) } }))
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
    </FormDialog>
  )
}
