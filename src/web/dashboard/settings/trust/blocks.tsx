import { useState } from 'preact/hooks'
import type { TrustBlock } from '../../../../dashboard/settings/trust/schema.ts'
import { Field } from '../../../kit/field.tsx'
import { useFormat } from '../../format.ts'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { usePlace, useSession } from '../../session.tsx'
import { Fingerprint } from './fingerprint.tsx'
import { useTrustWords } from './words.ts'

type Props = { blocks: readonly TrustBlock[]; onChange: () => void }

/** The emergency brake: certificates that are refused, whatever a list says. */
export function Blocks({ blocks, onChange }: Props) {
  const words = useTrustWords().blocks
  const { session, call } = useSession()
  const { date } = useFormat()
  const isOwner = session.user.is_owner
  const unblock = async ({ environment, fingerprint }: TrustBlock) => {
    await call('trust/blocks', { method: 'DELETE', body: { environment, fingerprint } })
    onChange()
  }
  return (
    <section class="stack" aria-labelledby="blocks">
      <h2 id="blocks">{words.title}</h2>
      <p class="secondary">{words.more}</p>
      <ul class="grid" aria-label={words.caption}>
        {blocks.map(block => (
          <li key={block.fingerprint} class="card entry row between breaks">
            <div class="stack tight">
              <p>
                <strong>{block.reason}</strong>
              </p>
              <Fingerprint hex={block.fingerprint} />
              <p class="hint">{words.since(date(block.created_at))}</p>
            </div>
            {isOwner && (
              <ConfirmButton title={words.unblockTitle} verb={words.unblock} onConfirm={() => unblock(block)}>
                {words.unblockMore}
              </ConfirmButton>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

type DialogProps = { label?: string; fingerprint?: string; onClose: () => void; onBlocked: () => void }

export function BlockDialog({ label, fingerprint: given = '', onClose, onBlocked }: DialogProps) {
  const words = useTrustWords().blocks
  const { call } = useSession()
  const { environment } = usePlace()
  const [fingerprint, setFingerprint] = useState(given)
  const [reason, setReason] = useState('')
  const block = async () => {
    await call('trust/blocks', { method: 'POST', body: { environment, fingerprint: fingerprint.trim(), reason: reason.trim() } })
    onBlocked()
  }
  return (
    <FormDialog
      title={label === undefined ? words.blockTitle : words.blockTitleOf(label)}
      intro={words.blockMore}
      verb={words.blockDo}
      kind="danger"
      isReady={fingerprint.trim() !== '' && reason.trim() !== ''}
      onSubmit={block}
      onClose={onClose}
    >
      <Field
        label={words.fingerprint}
        readOnly={given !== ''}
        autocomplete="off"
        spellcheck={false}
        value={fingerprint}
        onText={setFingerprint}
      />
      <Field label={words.reason} hint={words.reasonHint} autocomplete="off" maxLength={200} value={reason} onText={setReason} />
    </FormDialog>
  )
}
