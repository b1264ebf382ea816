import { useEffect, useState } from 'preact/hooks'
import type { CodeSecret, PasskeyCreation, Security, WithRecoveryCodes } from '../../../../people/security-schema.ts'
import { Copy } from '../../../kit/copy.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { Field } from '../../../kit/field.tsx'
import { QrCode } from '../../../kit/qr.tsx'
import { CopiedButton, Secret } from '../../../kit/secret.tsx'
import { useAction } from '../../action.ts'
import { CodeField } from '../../entrance/code-field.tsx'
import { makePasskey } from '../../entrance/passkey.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useSession } from '../../session.tsx'
import { useSecurityWords } from './words.ts'

type Props = { onAdded: (security: Security) => void; onClose: () => void }

export function AddPasskey({ onAdded, onClose }: Props) {
  const words = useSecurityWords()
  const { call } = useSession()
  const [label, setLabel] = useState('')
  const [codes, setCodes] = useState<readonly string[]>()
  const add = async () => {
    const creation = await call<PasskeyCreation>('security/passkeys/challenge', { method: 'POST' })
    const passkey = await makePasskey(creation)
    const made = await call<WithRecoveryCodes>('security/passkeys', { method: 'POST', body: { label: label.trim(), passkey } })
    onAdded(made.security)
    if (made.recovery_codes) setCodes(made.recovery_codes)
    else onClose()
  }
  return (
    <FormDialog
      title={codes ? words.recovery : words.addPasskey}
      intro={words.addPasskeyMore}
      verb={words.addPasskeyDo}
      isReady={label.trim() !== ''}
      onSubmit={add}
      onClose={onClose}
      result={codes && <RecoveryCodes codes={codes} onClose={onClose} />}
    >
      <Field
        label={words.label}
        hint={words.labelHint}
        autocomplete="off"
        required
        autofocus
        maxLength={60}
        value={label}
        onText={setLabel}
      />
    </FormDialog>
  )
}

export function AddCodes({ onAdded, onClose }: Props) {
  const words = useSecurityWords()
  const { call } = useSession()
  const [secret, setSecret] = useState<typeof CodeSecret.static>()
  const [code, setCode] = useState('')
  const [codes, setCodes] = useState<readonly string[]>()
  const draft = useAction(async () => {
    try {
      setSecret(await call<typeof CodeSecret.static>('security/codes', { method: 'POST' }))
    } catch (problem) {
      onClose()
      throw problem
    }
  })
  useEffect(() => draft.run(), [])
  const start = async () => {
    const made = await call<WithRecoveryCodes>('security/codes/start', { method: 'POST', body: { code } })
    onAdded(made.security)
    if (made.recovery_codes) setCodes(made.recovery_codes)
    else onClose()
  }
  if (!secret) return <Problem of={draft.problem} />
  return (
    <FormDialog
      title={codes ? words.recovery : words.addCodes}
      intro={words.addCodesMore}
      verb={words.addCodesDo}
      onSubmit={start}
      onClose={onClose}
      result={codes && <RecoveryCodes codes={codes} onClose={onClose} />}
    >
      <div class="factor-qr">
        <QrCode text={secret.uri} label={words.qr} />
      </div>
      <div class="stack tight">
        <p class="hint">{words.byHand}</p>
        <Copy text={secret.secret.replace(/.{4}(?=.)/g, '$& ')} label={words.secret} wraps />
      </div>
      <CodeField value={code} onText={setCode} />
    </FormDialog>
  )
}

/** Shown once, on one line each. */
function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const words = useSecurityWords()
  return (
    <div class="stack">
      <p class="secondary">{words.recoveryShown}</p>
      <Secret text={codes.join('\n')} label={words.recoveryName} />
      <CopiedButton onClose={onClose} />
    </div>
  )
}

export function RecoveryDialog({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const words = useSecurityWords()
  return (
    <Dialog title={words.recovery} holds onClose={onClose}>
      <RecoveryCodes codes={codes} onClose={onClose} />
    </Dialog>
  )
}
