import { useState } from 'preact/hooks'
import type { TrustSource } from '../../../dashboard/trust-schema.ts'
import { Button } from '../../shared/button.tsx'
import { TextArea } from '../../shared/field.tsx'
import { useAction } from '../action.ts'
import { FormDialog } from '../form-dialog.tsx'
import { useFormat } from '../format.ts'
import { Problem } from '../problem.tsx'
import { useSession } from '../session.tsx'
import { useDashboardWords } from '../words.ts'
import { Fingerprint } from './fingerprint.tsx'

type Props = { source: TrustSource; onClose: () => void; onChange: () => void }

/** The pinned signers of a list. A new one is confirmed by a person, never followed by itself. */
export function SignersDialog({ source, onClose, onChange }: Props) {
  const words = useDashboardWords().trust.lists
  const { call } = useSession()
  const [signer, setSigner] = useState(source.failure?.signer ?? '')
  const path = `trust/sources/${source.id}/pins`
  const pin = async () => {
    await call(path, { method: 'POST', body: { signer: signer.trim() } })
    onClose()
    onChange()
  }
  return (
    <FormDialog
      title={words.signersTitle(source.label)}
      intro={words.signersMore}
      verb={words.pinDo}
      isReady={signer.trim() !== ''}
      onSubmit={pin}
      onClose={onClose}
    >
      <Pins source={source} path={path} onChange={onChange} />
      <TextArea label={words.newSigner} hint={words.newSignerHint} rows={3} value={signer} onText={setSigner} />
    </FormDialog>
  )
}

function Pins({ source: { pins }, path, onChange }: { source: TrustSource; path: string; onChange: () => void }) {
  const words = useDashboardWords().trust.lists
  const { call } = useSession()
  const { date } = useFormat()
  const unpin = useAction(async (fingerprint: string) => {
    await call(path, { method: 'DELETE', body: { signer: fingerprint } })
    onChange()
  })
  return (
    <>
      <ul class="signers" aria-label={words.signersCaption}>
        {pins.map(({ fingerprint, subject, not_after }) => (
          <li key={fingerprint}>
            <div>
              {subject && <p>{subject}</p>}
              <Fingerprint hex={fingerprint} />
              {not_after && <p class="hint">{words.signerUntil(date(not_after))}</p>}
            </div>
            {pins.length > 1 && (
              <Button
                kind="danger"
                busy={unpin.isBusy}
                aria-label={`${words.unpin}: ${fingerprint.slice(0, 8)}`}
                onClick={() => unpin.run(fingerprint)}
              >
                {words.unpin}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <Problem of={unpin.problem} />
    </>
  )
}
