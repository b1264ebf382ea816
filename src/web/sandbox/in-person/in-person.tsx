import { useEffect, useState } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { Copy } from '../../kit/copy.tsx'
import { Select } from '../../kit/field.tsx'
import { Icon } from '../../kit/icons.tsx'
import { QrCode } from '../../kit/qr.tsx'
import { Seal } from '../../kit/seal.tsx'
import { Consent, SheetTitle } from '../consent.tsx'
import { Stopped } from '../ended.tsx'
import type { Documents } from '../issued.ts'
import { useSandboxWords } from '../words.ts'
import { type Choices, type Stage, usePhone } from './use-phone.ts'

const MTUS = [23, 185, 247, 515]
const HURRIED_MS = 900

type Props = {
  documents: Documents
  /** Shares by itself. */
  isHurried: boolean
  onStage: (stage: Stage) => void
  onClose: () => void
}

/** A code for a till, then what it asks. */
export function InPerson({ documents, isHurried, onStage, onClose }: Props) {
  const words = useSandboxWords()
  const [choices, setChoices] = useState<Choices>({ version: '1.0', mode: 'peripheral', mtu: 247 })
  const stage = usePhone(choices, documents)
  const { holder } = documents
  useEffect(() => {
    onStage(stage)
    if (!isHurried || stage.name !== 'asked') return
    // Long enough to be noticed.
    const timer = setTimeout(() => stage.settle(true), HURRIED_MS)
    return () => clearTimeout(timer)
  }, [stage, isHurried])
  switch (stage.name) {
    case 'preparing':
      return (
        <div class="opening" role="status">
          <Seal state="busy" label={words.opening} />
        </div>
      )
    case 'showing':
      return (
        <div class="stack">
          <SheetTitle>{words.inPerson}</SheetTitle>
          <p>{words.holdCode}</p>
          <QrCode text={stage.code} label={words.code} />
          <Copy text={stage.code} label={words.code} />
          <ChoicesOf choices={choices} onChoose={setChoices} />
          <Button wide onClick={onClose}>
            {words.toDocuments}
          </Button>
        </div>
      )
    case 'asked':
    case 'answering':
      return (
        <Consent
          who={stage.request.readers[0] ?? words.unknownReader}
          holder={holder}
          selected={holder && stage.request.select(holder.credentials)}
          isSending={stage.name === 'answering'}
          onShare={() => stage.name === 'asked' && stage.settle(true)}
          onDecline={() => stage.name === 'asked' && stage.settle(false)}
        />
      )
    case 'done':
      return (
        <div class="ended stack centred breaks">
          <Seal state={stage.isShared ? 'answered' : 'open'} size={96} />
          <SheetTitle>{stage.isShared ? words.sharedInPerson : words.closedInPerson}</SheetTitle>
          <p class="secondary">{stage.isShared ? words.tillTells : words.endsMore.declined}</p>
          <Button wide onClick={onClose}>
            {words.toDocuments}
          </Button>
        </div>
      )
    case 'stopped':
      return (
        <Stopped problem={stage.problem} onClose={onClose}>
          {words.toDocuments}
        </Stopped>
      )
  }
}

type ChoicesProps = { choices: Choices; onChoose: (choices: Choices) => void }

function ChoicesOf({ choices, onChoose }: ChoicesProps) {
  const words = useSandboxWords().choices
  return (
    <details class="unfolds">
      <summary>
        <Icon name="next" size={16} />
        {words.title}
      </summary>
      <div class="stack tight">
        <Select
          label={words.version}
          value={choices.version}
          options={[
            ['1.0', words.versions['1.0']],
            ['1.1', words.versions['1.1']],
          ]}
          onChoose={version => onChoose({ ...choices, version })}
        />
        <Select
          label={words.mode}
          value={choices.mode}
          options={[
            ['peripheral', words.modes.peripheral],
            ['central', words.modes.central],
            ['both', words.modes.both],
          ]}
          onChoose={mode => onChoose({ ...choices, mode })}
        />
        <Select
          label={words.mtu}
          value={choices.mtu}
          options={MTUS.map(mtu => [mtu, words.bytes(mtu)])}
          onChoose={mtu => onChoose({ ...choices, mtu })}
        />
      </div>
    </details>
  )
}
