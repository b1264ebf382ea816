import { useState } from 'preact/hooks'
import type { TrustSource } from '../../../../../dashboard/settings/trust/schema.ts'
import { Button } from '../../../../kit/button.tsx'
import { Select, TextArea } from '../../../../kit/field.tsx'
import { useFormat } from '../../../format.ts'
import { FormDialog } from '../../../parts/form-dialog.tsx'
import { useSession } from '../../../session.tsx'
import { Fingerprint } from '../fingerprint.tsx'
import { useTrustWords } from '../words.ts'

const FATES = ['keep', 'withdraw'] as const
type Fate = (typeof FATES)[number]

type Props = { source: TrustSource; onClose: () => void; onChange: () => void }

/** The pinned signers of a list. A new one is confirmed by a person, never followed by itself. */
export function SignersDialog({ source, onClose, onChange }: Props) {
  const words = useTrustWords().lists
  const { call } = useSession()
  const [signer, setSigner] = useState(source.failure?.signer ?? '')
  const [removing, setRemoving] = useState<string>()
  const path = `trust/sources/${source.id}/pins`
  const pin = async () => {
    await call(path, { method: 'POST', body: { signer: signer.trim() } })
    onClose()
    onChange()
  }
  if (removing !== undefined)
    return <UnpinDialog {...{ source, path, onClose, onChange }} fingerprint={removing} onBack={() => setRemoving(undefined)} />
  return (
    <FormDialog
      title={words.signersTitle(source.label)}
      intro={words.signersMore}
      verb={words.pinDo}
      isReady={signer.trim() !== ''}
      onSubmit={pin}
      onClose={onClose}
    >
      <Pins source={source} onRemove={setRemoving} />
      <TextArea label={words.newSigner} hint={words.newSignerHint} rows={3} value={signer} onText={setSigner} />
    </FormDialog>
  )
}

function Pins({ source: { pins }, onRemove }: { source: TrustSource; onRemove: (fingerprint: string) => void }) {
  const words = useTrustWords().lists
  const { date } = useFormat()
  return (
    <ul class="signers grid" aria-label={words.signersCaption}>
      {pins.map(({ fingerprint, subject, not_after }) => (
        <li key={fingerprint} class="entry row between breaks">
          <div>
            {subject && <p>{subject}</p>}
            <Fingerprint hex={fingerprint} />
            {not_after && <p class="hint">{words.signerUntil(date(not_after))}</p>}
          </div>
          {pins.length > 1 && (
            <Button kind="danger" aria-label={`${words.unpin}: ${fingerprint.slice(0, 8)}`} onClick={() => onRemove(fingerprint)}>
              {words.unpin}
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}

type UnpinProps = {
  source: TrustSource
  fingerprint: string
  path: string
  onBack: () => void
  onClose: () => void
  onChange: () => void
}

/** The list that a removed signer signed stays in force unless the reader says otherwise. */
function UnpinDialog({ source, fingerprint, path, onBack, onClose, onChange }: UnpinProps) {
  const words = useTrustWords().lists
  const { call } = useSession()
  const { date } = useFormat()
  const [fate, setFate] = useState<Fate>('keep')
  const unpin = async () => {
    await call(path, { method: 'DELETE', body: { signer: fingerprint, withdraw: fate === 'withdraw' } })
    onBack()
    onChange()
  }
  return (
    <FormDialog title={words.unpinTitle} verb={words.unpin} kind="danger" onSubmit={unpin} onBack={onBack} onClose={onClose}>
      <Fingerprint hex={fingerprint} />
      <p>{words.unpinMore(date(source.ends_at))}</p>
      <Select
        label={words.unpinFate}
        value={fate}
        options={FATES.map(each => [each, words.unpinFates[each]] as const)}
        onChoose={setFate}
      />
    </FormDialog>
  )
}
