import { useState } from 'preact/hooks'
import type { ImportedBundle } from '../../../../dashboard/settings/trust/schema.ts'
import { Badge } from '../../../kit/badge.tsx'
import { Button } from '../../../kit/button.tsx'
import { Check, Field } from '../../../kit/field.tsx'
import { Notice } from '../../../kit/notice.tsx'
import { useFormat } from '../../format.ts'
import { FileInput } from '../../parts/file-button.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { useSession } from '../../session.tsx'
import { useDashboardWords } from '../../words.ts'
import { Fingerprint } from './fingerprint.tsx'
import { LIST_MS_MAX } from './lists/list-limits.ts'
import { useTrustWords } from './words.ts'

/** The same as the server's. */
const BUNDLE_BYTES_MAX = 16 * 1024 * 1024

const TONES = {
  accepted: 'ok',
  added: 'ok',
  unchanged: 'neutral',
  known: 'neutral',
  refused: 'no',
  not_taken: 'wait',
} as const

/** Brings lists to a server without internet. */
export function ImportBundleDialog({ onClose, onImported }: { onClose: () => void; onImported: () => void }) {
  const words = useTrustWords().bundle
  const { call } = useSession()
  const [file, setFile] = useState<File>()
  const [from, setFrom] = useState('')
  const [older, setOlder] = useState(false)
  const [isTried, setIsTried] = useState(false)
  const [imported, setImported] = useState<ImportedBundle>()
  const isTooLarge = file !== undefined && file.size > BUNDLE_BYTES_MAX
  const bring = async () => {
    setIsTried(true)
    if (!file || isTooLarge) return
    const body = { bundle: (await file.text()).trim(), ...(from.trim() && { from: from.trim() }), ...(older && { older }) }
    setImported(await call<ImportedBundle>('trust/bundle', { method: 'POST', body, timeoutMs: LIST_MS_MAX }))
    onImported()
  }
  const problem = isTooLarge ? words.tooLarge : isTried && !file && words.fileMissing
  return (
    <FormDialog
      title={words.title}
      intro={words.more}
      verb={words.importDo}
      onSubmit={bring}
      onClose={onClose}
      result={imported && <Imported imported={imported} onClose={onClose} />}
    >
      <FileInput onFile={setFile} />
      <p role="status">{file?.name}</p>
      {problem && <Notice tone="no">{problem}</Notice>}
      <Field label={words.from} hint={words.fromHint} autocomplete="off" spellcheck={false} value={from} onText={setFrom} />
      <Check label={words.older} isChecked={older} onCheck={setOlder} />
    </FormDialog>
  )
}

function Imported({ imported, onClose }: { imported: ImportedBundle; onClose: () => void }) {
  const words = useTrustWords().bundle
  const { done, environments } = useDashboardWords()
  const { date } = useFormat()
  const { made_by, made_at, signature_valid, signer_accepted, signer, items } = imported
  return (
    <div class="stack">
      <p>{words.made(made_by, date(made_at))}</p>
      {!signature_valid && <Notice tone="no">{words.unsigned}</Notice>}
      {signature_valid && !signer_accepted && (
        <Notice tone="wait">
          <p>{words.notAccepted}</p>
          <Fingerprint hex={signer} />
        </Notice>
      )}
      <ul class="grid" aria-label={words.caption}>
        {items.map(({ what, environment, name, outcome, detail }, i) => (
          <li key={i} class="entry row between breaks">
            <div>
              <p>
                <strong>{name}</strong>
              </p>
              <p class="hint">{[words.whats[what], environment && environments[environment]].filter(Boolean).join(', ')}</p>
              {detail && (
                <p lang="en" class="hint">
                  {detail}
                </p>
              )}
            </div>
            <Badge tone={TONES[outcome]}>{words.outcomes[outcome]}</Badge>
          </li>
        ))}
      </ul>
      <div class="row end">
        <Button kind="primary" onClick={onClose}>
          {done}
        </Button>
      </div>
    </div>
  )
}
