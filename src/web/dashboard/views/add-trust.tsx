import { useState } from 'preact/hooks'
import type { AddTrust, TrustAnchor } from '../../../dashboard/settings-schema.ts'
import { Button } from '../../shared/button.tsx'
import { useClaimWords } from '../../shared/claims.ts'
import { Dialog } from '../../shared/dialog.tsx'
import { Field, Select, TextArea } from '../../shared/field.tsx'
import { useCommon } from '../../shared/language.tsx'
import { useAction } from '../action.ts'
import { FileButton } from '../file-button.tsx'
import { Problem } from '../problem.tsx'
import { usePlace, useSession } from '../session.tsx'
import { useDashboardWords } from '../words.ts'

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
const CRL_CHOICES = ['require', 'warn', 'off'] as const

type Props = { onClose: () => void; onAdded: (anchors: readonly TrustAnchor[]) => void }

export function AddTrustDialog({ onClose, onAdded }: Props) {
  const words = useDashboardWords().trust
  const common = useCommon()
  const { call } = useSession()
  const { environment } = usePlace()
  const { document } = useClaimWords()
  const [pem, setPem] = useState('')
  const [isMissing, setIsMissing] = useState(false)
  const [label, setLabel] = useState('')
  const [trustedFor, setTrustedFor] = useState('')
  const [mode, setMode] = useState<AddTrust['mode']>()
  const [crl, setCrl] = useState<AddTrust['crl']>()
  const write = (text: string) => {
    setPem(text)
    setIsMissing(false)
  }
  const add = useAction(async () => {
    if (!pem.includes(CERTIFICATE)) return setIsMissing(true)
    const body: AddTrust = {
      environment,
      pem,
      ...(label.trim() && { label: label.trim() }),
      ...(trustedFor && { trusted_for: trustedFor }),
      ...(mode && { mode }),
      ...(crl && { crl }),
    }
    onAdded((await call<{ data: TrustAnchor[] }>('trust', { method: 'POST', body })).data)
  })
  return (
    <Dialog title={words.addTitle} onClose={onClose}>
      <form class="stack" onSubmit={add.submit}>
        <p class="secondary">{words.addMore}</p>
        <TextArea
          label={words.pem}
          placeholder={CERTIFICATE}
          problem={isMissing && words.pemMissing}
          required
          rows={6}
          value={pem}
          onInput={event => write(event.currentTarget.value)}
        />
        <FileButton accept=".pem,.crt,.cer" onText={write} />
        <Field
          label={words.label}
          hint={words.labelHint}
          autocomplete="off"
          maxLength={100}
          value={label}
          onInput={event => setLabel(event.currentTarget.value)}
        />
        <Select label={words.trustedFor} value={trustedFor} onChange={event => setTrustedFor(event.currentTarget.value)}>
          <option value="">{words.allTypes}</option>
          {TYPES.map(type => (
            <option key={type} value={type}>
              {document(type)} ({type})
            </option>
          ))}
        </Select>
        <Select
          label={words.mode}
          value={mode ?? ''}
          onChange={event => setMode(MODES.find(each => each === event.currentTarget.value))}
        >
          <option value="">{words.modes.auto}</option>
          {MODES.map(each => (
            <option key={each} value={each}>
              {words.modes[each]}
            </option>
          ))}
        </Select>
        <Select
          label={words.crl}
          value={crl ?? ''}
          onChange={event => setCrl(CRL_CHOICES.find(each => each === event.currentTarget.value))}
        >
          <option value="">{words.crlAuto}</option>
          {CRL_CHOICES.map(each => (
            <option key={each} value={each}>
              {words.crlChoices[each]}
            </option>
          ))}
        </Select>
        <Problem of={add.problem} />
        <div class="row end">
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind="primary" type="submit" busy={add.isBusy}>
            {words.addDo}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
