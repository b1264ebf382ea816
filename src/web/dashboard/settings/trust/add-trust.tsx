import { useState } from 'preact/hooks'
import type { AddTrust, TrustAnchor } from '../../../../dashboard/settings/trust/schema.ts'
import { Field, Select, TextArea } from '../../../kit/field.tsx'
import { useClaimWords } from '../../../shared/claims.ts'
import { FileButton } from '../../parts/file-button.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { usePlace, useSession } from '../../session.tsx'
import { useTrustWords } from './words.ts'

const TYPES = [
  'eu.europa.ec.av.1',
  'urn:eudi:pid:1',
  'eu.europa.ec.eudi.pid.1',
  'urn:eudi:pid:de:1',
  'org.iso.18013.5.1.mDL',
  'org.iso.23220.photoID.1',
]
const CERTIFICATE = '-----BEGIN CERTIFICATE-----'
const MODES = ['iso', 'pkix'] as const
const USES = ['both', 'documents', 'status'] as const
const CRL_CHOICES = ['require', 'warn', 'off'] as const

type Props = { onClose: () => void; onAdded: (anchors: readonly TrustAnchor[]) => void }

export function AddTrustDialog({ onClose, onAdded }: Props) {
  const words = useTrustWords()
  const { call } = useSession()
  const { environment } = usePlace()
  const { document } = useClaimWords()
  const [pem, setPem] = useState('')
  const [isMissing, setIsMissing] = useState(false)
  const [label, setLabel] = useState('')
  const [trustedFor, setTrustedFor] = useState('')
  const [mode, setMode] = useState<NonNullable<AddTrust['mode']> | ''>('')
  const [crl, setCrl] = useState<NonNullable<AddTrust['crl']> | ''>('')
  const [use, setUse] = useState<NonNullable<AddTrust['use']>>('both')
  const write = (text: string) => {
    setPem(text)
    setIsMissing(false)
  }
  const add = async () => {
    if (!pem.includes(CERTIFICATE)) return setIsMissing(true)
    const body: AddTrust = {
      environment,
      pem,
      ...(label.trim() && { label: label.trim() }),
      ...(trustedFor && { trusted_for: trustedFor }),
      ...(mode && { mode }),
      ...(crl && { crl }),
      use,
    }
    onAdded((await call<{ data: TrustAnchor[] }>('trust', { method: 'POST', body })).data)
  }
  return (
    <FormDialog title={words.addTitle} intro={words.addMore} verb={words.addDo} onSubmit={add} onClose={onClose}>
      <TextArea
        label={words.pem}
        placeholder={CERTIFICATE}
        problem={isMissing && words.pemMissing}
        required
        rows={6}
        value={pem}
        onText={write}
      />
      <FileButton accept=".pem,.crt,.cer" onText={write} />
      <Field label={words.label} hint={words.labelHint} autocomplete="off" maxLength={100} value={label} onText={setLabel} />
      <Select
        label={words.trustedFor}
        value={trustedFor}
        options={[['', words.allTypes], ...TYPES.map(type => [type, `${document(type)} (${type})`] as const)]}
        onChoose={setTrustedFor}
      />
      <Select label={words.use} value={use} options={USES.map(each => [each, words.uses[each]] as const)} onChoose={setUse} />
      <Select
        label={words.mode}
        value={mode}
        options={[['', words.modes.auto], ...MODES.map(each => [each, words.modes[each]] as const)]}
        onChoose={setMode}
      />
      <Select
        label={words.crl}
        value={crl}
        options={[['', words.crlAuto], ...CRL_CHOICES.map(each => [each, words.crlChoices[each]] as const)]}
        onChoose={setCrl}
      />
    </FormDialog>
  )
}
