import { useState } from 'preact/hooks'
import type { Signing } from '../../../dashboard/settings-schema.ts'
import { Button } from '../../shared/button.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { TextArea } from '../../shared/field.tsx'
import { useCommon } from '../../shared/language.tsx'
import { useAction } from '../action.ts'
import { FileButton } from '../file-button.tsx'
import { Problem } from '../problem.tsx'
import { useSession } from '../session.tsx'
import { useDashboardWords } from '../words.ts'

type Props = { onClose: () => void; onImported: (signing: Signing) => void }

export function ImportSigningDialog({ onClose, onImported }: Props) {
  const words = useDashboardWords().settings
  const common = useCommon()
  const { call } = useSession()
  const [chain, setChain] = useState('')
  const [key, setKey] = useState('')
  const install = useAction(async () =>
    onImported(await call<Signing>('signing', { method: 'POST', body: { chain, ...(key.trim() && { key }) } })),
  )
  return (
    <Dialog title={words.importTitle} onClose={onClose}>
      <form class="stack" onSubmit={install.submit}>
        <p class="secondary">{words.importMore}</p>
        <TextArea
          label={words.chain}
          hint={words.chainHint}
          placeholder="-----BEGIN CERTIFICATE-----"
          required
          rows={6}
          value={chain}
          onInput={event => setChain(event.currentTarget.value)}
        />
        <FileButton accept=".pem,.crt,.cer" onText={setChain} />
        <TextArea
          label={words.importKey}
          hint={words.importKeyHint}
          autocomplete="off"
          rows={4}
          value={key}
          onInput={event => setKey(event.currentTarget.value)}
        />
        <Problem of={install.problem} />
        <div class="row end">
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind="primary" type="submit" busy={install.isBusy}>
            {words.importDo}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
